"""Lookups about products and shops: orders, prices, stock, opening hours, calories."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, pick, price, text
from tools.tiny.text.lookup_fields import CODE, FOOD, ITEM, SHOPS
from tools.tiny.text.source import phrases

STOCK_PRICE = Concept(
    phrases("""stock_price | get_stock | quote | share_price | get_stock_price | ticker | stockPrice | get_quote |
share | get_share_price | stock_quote | stock_lookup | check_share | stock_ticker | share_quote | get_share |
price_of_share | check_stock_price | fetch_stock_price | getStockPrice | share_value | market_price |
find_share_price | ticker_price | stock_market | lookup_share | read_ticker | getQuote | equity_quote |
bourse_price | market_value | trade_price | sharesLookup | wall_street | last_trade | equityPrice |
exchange_quote | tickerQuote | investor_price"""),
    phrases("""Get a stock price. | Price of a share | Returns the price of a stock. | Stock quote | Share prices. |
Looks up a stock. | Returns the price of a share. | Gets the current price of a stock. | Current share price |
Quote of a share | Shows what a share is worth. | Stock market prices | Price of a stock by its symbol |
Looks up a share price. | Returns a quote for a ticker symbol. | Share price lookup | Stock prices | Ticker |
Value of a share. | The last price of a stock | Get a share price from the stock market. |
Quotes of shares and stocks. | Use this to get the price of a share. |
Use this tool for questions about stocks and shares. | Finds the price of a company's shares."""),
    (
        Field(
            ("symbol", "ticker", "stock", "share", "company"),
            "string",
            text(
                lambda s: s.fresh(lambda: "".join(s.any("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(s.integer(2, 4))))
            ),
        ),
    ),
    phrases("""What is the price of {0}? | Stock price of {0}? | How is {0} trading? | Quote for {0}. |
Price of {0} stock? | How much is a share of {0}? | Check the stock {0}. | What does {0} cost now? |
Show me the stock {0}. | Get the price of {0}. | Is {0} up or down? | The quote of {0}, please. |
Share price of {0}? | Tell me the price of {0} shares. | {0} stock | Where does {0} stand? | Look up the {0} share. |
I own {0}. What is it worth? | What is the share price of {0}? | What's the share price of {0}? |
Give me the share price of {0}. | Get the share price of {0}. | Find the share price of {0}. |
I need the share price of {0}. | {0} share price | The share price of {0}, please. | What is the stock price of {0}? |
What's the {0} stock price? | Get the {0} stock price. | Tell me the stock price of {0}. |
Check the stock price of {0}. | Look up the stock price of {0}. | {0} stock price | stock price {0} |
I want to know the stock price of {0}. | What is the price of one share of {0}? | What is the price of a {0} share? |
What do I pay for one share of {0}? | What does a share of {0} cost? | What does one {0} share cost today? |
How much does a share of {0} cost? | How much is one {0} share? | How much is the {0} stock? |
How much are {0} shares today? | What is a share of {0} worth? | What are {0} shares worth? |
What is my {0} stock worth? | I have shares of {0}. What is the price? | I own some {0} shares. What is one worth? |
I want to sell my {0} shares. What is the price? | I want to buy shares of {0}. What is the price? |
Should I sell {0}? What is the share price? | Get me a quote for {0}. | Give me the quote of {0}. |
What is the quote for {0}? | Show me the quote of {0}. | Latest quote of {0}? | quote {0} | I need a quote for {0}. |
What is {0} trading at? | Where is {0} trading? | At what price is {0} trading? | How are {0} shares trading today? |
How is the {0} share doing? | How is {0} doing on the stock market? | How does {0} stand on the market today? |
Where does the {0} share stand? | Did the {0} share go up? | Did {0} stock go up or down today? |
Are {0} shares up today? | Is the {0} stock up? | Check the ticker {0}. | Ticker {0}, please. |
Show the ticker of {0}. | What does the ticker say for {0}? | Ticker: {0} | Look up the ticker {0}. |
Show the {0} share price. | Market price of {0}? | What is the market price of {0}? |
Check the market price of the {0} share. | Has the {0} share gone up? | Did the {0} shares go down? |
Is the {0} share going up or down? | One share of {0} costs what? | Shares of {0}: price now? |
Market price of the share {0}? | Bourse price of {0}? | {0} on the stock exchange? | How does {0} trade? |
Trading price of {0}? | Last trade of {0}? | The ticker {0} stands at? | How high is the share {0}? |
Equity price: {0}"""),
    (Outcome(("price", "last", "value", "close", "usd"), price, "{}"),),
    "{0} is at {o}.",
)

ORDER = Concept(
    phrases("""get_order | order_status | track_order | order | track | find_order | orderStatus | order_info |
get_order_status | check_order | show_order | lookup_order | trackOrder | get_order_info | fetch_order |
order_lookup | order_tracking | getOrder | order_state | order_details | where_is_order | find_order_status |
check_order_status | getOrderStatus | view_order | order_progress | track_my_order | read_order | shipment_state |
delivery_state | follow_order | package_state | purchase_status | orderProgress | pull_order | inspect_order |
shipment_tracking | parcel_for_order | openOrder | delivery_progress | orderState | order_retrieve"""),
    phrases("""Get the status of an order. | Order tracking | Tracks an order. | Where is an order | Order status. |
Looks up an order. | Gets the status of an order. | Returns the status of an order. | Track an order. |
Tracks orders | Finds an order. | Shows the state of an order. | Look up an order by its number. |
Returns where an order is. | Order lookup | Checks whether an order has been sent. | Tells when an order arrives. |
Order status by order number | Shows how far an order is. | Orders | Get information about an order. |
Status of an order | Delivery status | Use this to track an order. |
Use this tool when the user asks about an order. | Checks an order."""),
    (CODE,),
    phrases("""Where is my order {0}? | Track order {0}. | What is the status of order {0}? | Order {0}? |
Has order {0} been sent? | Check order {0}. | I am waiting for order {0}. | Look up the order {0}. |
When does order {0} come? | Status of {0}? | Find order {0}. | Did you send order {0}? | Show order {0}. |
Tell me about order {0}. | What about my order {0}? | How far is order {0}? | Get the status of order {0}. |
My order is {0}. Where is it? | What's the status of order {0}? | What is the status of my order {0}? |
Tell me the status of order {0}. | Check the status of order {0}. | Give me the status of my order {0}. |
I need the status of order {0}. | Show me the status of order {0}. | Order {0}, status? | order status {0} |
status order {0} | What state is order {0} in? | In which state is my order {0}? | Track my order {0}. |
Can you track order {0}? | Could you track my order {0}? | I want to track my order {0}. |
I would like to track order {0}. | Please track {0}. | Tracking for order {0}, please. | Where is order {0}? |
Where's my order {0}? | Where is order {0} now? | Do you know where my order {0} is? |
Can you find out where order {0} is? | Find out where my order {0} is. | Tell me where my order {0} is. |
I want to know where order {0} is. | Has my order {0} been sent yet? | Has order {0} left yet? |
Has order {0} arrived? | Was order {0} sent? | Was my order {0} shipped? | Did order {0} ship? |
Has order {0} shipped yet? | Is order {0} on its way? | Is my order {0} on the way? | Is order {0} ready? |
Is my order {0} lost? | Did my order {0} get lost? | When will order {0} arrive? | When does my order {0} arrive? |
When will my order {0} come? | When will I get order {0}? | When do I get my order {0}? |
When will order {0} be delivered? | Will order {0} come today? | Will my order {0} arrive soon? |
Has order {0} been delivered? | Is order {0} delivered? | How long until order {0} arrives? |
How far is my order {0}? | What happened to order {0}? | What happened to my order {0}? |
What is going on with order {0}? | What is wrong with my order {0}? | I ordered something, number {0}. Where is it? |
I ordered last week, order {0}. Where is it? | I still wait for my order {0}. | My order {0} has not come yet. |
My order {0} is late. Where is it? | My order {0} did not arrive. | My order number is {0}. Where is my parcel? |
My parcel has not come. The order is {0}. | Where is the parcel of order {0}? | Where is my parcel? Order {0}. |
When does the parcel of order {0} arrive? | Look up my order {0}. | Look up order number {0}. | Check on order {0}. |
Check my order {0}. | Check order number {0}. | Find my order {0}. | Show me my order {0}. | Open order {0}. |
I need to know about order {0}. | Information on order {0}, please. | About my order {0}: when does it come? |
How far along is order {0}? | Shipment {0}: where? | Has {0} been shipped? That is my order. |
Delivery state of order {0}? | Package for order {0}, where is it? | Follow order {0}. | Inspect order {0}. |
Pull order {0}. | When do I get order {0}? | Order {0} is late. Look it up. | Retrieve the order {0}."""),
    (
        Outcome(
            ("status", "state", "order"),
            lambda s: s.any(("shipped", "packed", "delivered", "lost", "on the way")),
            "{}",
        ),
        Outcome(("eta", "arrives", "date"), words.date, "arrival {}"),
    ),
    "Order {0}: {o}.",
)

PRICE = Concept(
    phrases("""get_price | price | price_of | product_price | cost | lookup_price | getPrice | find_price |
check_price | get_product_price | item_price | price_lookup | show_price | get_item_price | find_product_price |
fetch_price | productPrice | price_check | price_for_item | what_it_costs | lookup_product_price | product_cost |
get_cost | itemPrice | price_info | read_price | ask_price | price_of_product | price_tag | charge_for |
how_expensive | retail_price | costOf | tag_price | euros_for | shop_price | amount_to_pay | priceFinder |
quote_item | item_charge | priceCheck | expense_of_item"""),
    phrases("""Get the price of a product. | Product prices | Returns the price. | What something costs | Prices. |
Looks up a price. | Returns the price of a product. | Gets the price of an item. | Gives the price of an article. |
Price of a product | Price lookup | Looks up what a product costs. | Tells how much something costs. |
Finds the price of an item. | Shows the price of a product. | Product price | What an item costs | Checks a price. |
Cost of a product | Price list of the shop | Fetch the price of an article in the shop. |
Price of an item by its name. | Use this to get a price. | Use this tool when the user asks what something costs. |
Returns what an item costs."""),
    (ITEM,),
    phrases("""How much is a {0}? | What does a {0} cost? | Price of a {0}? | What is the price of the {0}? |
How expensive is a {0}? | Tell me the price of a {0}. | Check the price of the {0}. |
I want a {0}. What is its price? | Get the price of a {0}. | Is a {0} expensive? | What do you want for a {0}? |
The price of a {0}, please. | Look up the price of a {0}. | How many euros is a {0}? | What do I pay for a {0}? |
Show me the price of the {0}. | Cost of a {0}? | How much is the {0}? | How much is one {0}? |
How much does the {0} cost? | How much does a {0} cost? | How much do I pay for the {0}? |
How much do you want for the {0}? | How much would a new {0} cost? | How much money do I need for the {0}? |
How much is your {0}? | How much for the {0}? | how much for a {0} | What does the {0} cost? |
What does one {0} cost? | What does your {0} cost? | What would the {0} cost me? | What will a new {0} cost? |
Tell me what the {0} costs. | Tell me how much the {0} is. | Tell me how much a {0} costs. |
Can you tell me what a {0} costs? | Do you know what the {0} costs? | Do you know how much a {0} is? |
I want to know what the {0} costs. | I would like to know how much the {0} costs. | Find out what a {0} costs. |
Find out how much the {0} is. | What's the price of the {0}? | What's the price of a {0}? |
What is the price for one {0}? | What is the price of your {0}? | Which price does the {0} have? |
At what price is the {0}? | Price of the {0}? | Price for a {0}, please. | {0} price | price {0} |
The {0}, what is its price? | The price of the {0}, please. | Give me the price of the {0}. |
Give me the price of a {0}. | Get the price of the {0}. | Get me the price of your {0}. | Find the price of the {0}. |
Find a price for the {0}. | I need the price of a {0}. | I need the price of the {0}. |
Look up the price of the {0}. | Could you check the price of a {0}? | Could you look up the price of the {0}? |
Tell me the price of the {0}. | Show the price of a {0}. | Show me what the {0} costs. | Is the {0} expensive? |
Is the {0} cheap or expensive? | Is a {0} cheap? | How expensive is the {0}? | How expensive is a new {0}? |
How cheap is the {0}? | What is the cost of the {0}? | What is the cost of a {0}? | Tell me the cost of the {0}. |
Check the cost of a {0}. | How many euros is the {0}? | How many euros do I pay for the {0}? |
How many euros does a {0} cost? | For how many euros do you sell the {0}? | For what price do you sell the {0}? |
I like the {0}. What does it cost? | I like the {0}. How much is it? |
I would like to buy the {0}. What is the price? | I need a new {0}. What does it cost? |
I broke my {0}. How much is a new one? | Can I afford the {0}? What does it cost? |
Is the {0} dear? Price, please. | What do they charge for the {0}? | The shop asks how much for the {0}? |
I might buy the {0}. What would I pay? | Price tag of the {0}? | Charge for one {0}? |
The tag on the {0} says what? | Quote me the {0}. | Amount to pay for a {0}? | Retail price of the {0}? |
What is the {0} going for? | How dear is a {0}?"""),
    (Outcome(("price", "cost", "amount", "eur", "value"), price, "{}"),),
    "The {0} costs {o}.",
)

STOCK = Concept(
    phrases("""check_stock | stock | inventory | in_stock | get_inventory | warehouse | checkStock | get_stock_level |
stock_level | count_stock | stock_count | find_stock | item_stock | get_stock_count | inventory_check |
checkInventory | product_stock | items_in_stock | stock_check | warehouse_stock | get_stock_of_item |
check_availability | inventory_count | read_inventory | stockLevel | is_in_stock | count_inventory | shelf_check |
remaining_units | storage_count | availability | depot_count | units_left | stockroom | in_storage |
supply_check | availableUnits | shelf_count | how_many_left | stocked | depotInventory | item_available |
storageLevel"""),
    phrases("""Check the stock of a product. | Inventory | How many are in stock. | Stock level | Counts a product. |
Warehouse stock. | Checks the stock of a product. | Returns how many items are in stock. | Stock of a product |
Inventory check | Tells whether a product is in stock. | Counts the items in the warehouse. |
Shows the stock of an item. | Looks up the inventory. | How many of a product are left | Number of items in stock |
Inventory of the warehouse | Checks the inventory of an item. | Returns the stock level of a product. |
Is a product in stock | Stock check | Availability of a product | Use this to check the stock. |
Use this tool to see how many items are left. | Counts how many of a product there are."""),
    (ITEM,),
    phrases("""How many {0}s are in stock? | Is the {0} in stock? | Stock of {0}? | Do we have a {0}? |
Check the stock of {0}. | How many of the {0} are left? | Is there a {0} in the warehouse? | Count the {0} stock. |
How much stock of {0}? | Is there any {0} left? | Can I still get a {0}? | Look up the stock of {0}. |
What is the stock of {0}? | Number of {0} in stock? | Do you have the {0} in stock? | {0} in stock? |
Show the stock of {0}. | Are there enough {0}s? | Is a {0} in stock? | Is there a {0} in stock? |
Is the {0} still in stock? | Are there {0}s in stock? | Are any {0}s in stock? | Do we have {0}s in stock? |
Do we have the {0} in stock? | Do you have a {0} in stock? | Do you still have the {0} in stock? |
Have you got the {0} in stock? | How many {0}s do we have in stock? | How many {0}s do you have in stock? |
How many of the {0} are in stock? | What do we have in stock of the {0}? | Tell me how many {0}s are in stock. |
Find out if the {0} is in stock. | Can you check if the {0} is in stock? | Could you see whether a {0} is in stock? |
I want to know if the {0} is in stock. | {0}, in stock or not? | {0} stock level | stock {0} |
Stock level of the {0}? | What is the stock level of the {0}? | Check the stock of the {0}. |
Check our stock of {0}s. | Check the stock level for the {0}. | Get the stock of the {0}. |
Give me the stock of the {0}. | Tell me the stock of the {0}. | I need the stock of the {0}. |
The stock of {0}s, please. | How large is our stock of {0}s? | Is our stock of {0}s big enough? |
Do we have enough {0}s? | Do we have enough of the {0}? | How many {0}s are left? | How many {0}s do we have left? |
Are there any {0}s left? | Are any of the {0}s left? | Is one {0} left? | Do you have a {0} left? |
Do we have any {0}s left? | How many {0}s are there? | How many {0}s do we have? |
How many {0}s are in the warehouse? | How many {0}s does the warehouse have? | Do we have the {0} in the warehouse? |
Is the {0} in the warehouse? | Are there {0}s in the warehouse? | Look in the warehouse for the {0}. |
Look up how many {0}s are in the warehouse. | Check the warehouse for the {0}. | Count the {0}s in the warehouse. |
Count the {0}s. | Count how many {0}s we have. | Count the {0}s in stock. | Check the inventory for the {0}. |
What does the inventory say about the {0}? | Inventory of the {0}? | Inventory: {0} | {0} inventory |
How many {0}s are in the inventory? | Look up the {0} in the inventory. | Is the {0} available? |
Is the {0} still available? | Is a {0} available? | How many {0}s are available? | Are {0}s available now? |
Is the {0} sold out? | Are the {0}s sold out? | Are we out of {0}s? | Did we run out of {0}s? |
A customer wants a {0}. Do we have one? | A customer asks for a {0}. Is it in stock? |
I would like a {0}. Is one in stock? | I need ten {0}s. Are there enough? | Have we sold all the {0}s? |
Is the {0} sold out already? | Will we run out of {0}s soon? | Is any {0} left? | Shelf check: {0} |
Did we run out of the {0}? | Storage: {0} | Can a customer still get the {0}? How many are there? |
Supply of the {0}? | Availability of the {0}, please. | Depot: how many of the {0}? | Count the {0} in the depot. |
{0}s in stock? | {0}s left? | {0}s: how many are left? | {0}s, are there any? | {0}s, in stock or sold out? |
Any {0}s in the warehouse? | Any {0}s on the shelf? | Stock of {0}s? | Stock of {0}s, please. | Stock check on {0}s. |
Tell me the stock of {0}s. | The number of {0}s, please. | The number of {0}s we have? | Number of {0}s left? |
The inventory of {0}s, please. | Inventory of {0}s? | Are {0}s sold out? | Are all {0}s sold out? |
Are all the {0}s gone? | Are the {0}s gone? | Are the {0}s available? | Are the last {0}s sold? |
Have the {0}s been sold out? | Are we running out of {0}s? | Are we short of {0}s? | Are there still {0}s? |
Do we still have {0}s? | Do you have {0}s? | I need some {0}s. Are there any left? |
I need five {0}s. Do we have that many? | I need a dozen {0}s. Are there enough? |
I want three {0}s. Are they in stock? | A customer needs six {0}s. Are there enough? | Do we have ten {0}s? |
Are there eight {0}s in stock? | We need two {0}s. Are they there? | We sold many {0}s. How many are left? |
How are we doing on {0}s? | What about the {0}s, how many are left? | What is our stock of {0}s? |
How big is the stock of {0}s?"""),
    (Outcome(("count", "stock", "quantity", "left", "units"), amount(0, 500), "{}"),),
    "There are {o} in stock: {0}.",
)

OPENING_HOURS = Concept(
    phrases("""get_opening_hours | opening_hours | open_hours | find_opening_hours | openingHours | shop_hours |
check_opening_hours | business_hours | opening_times | when_open | get_hours | getOpeningHours | store_hours |
is_open | hours_of_shop | lookup_hours | opening_time | show_opening_hours | fetch_hours | opening_hours_lookup |
read_hours | get_opening_times | shopHours | place_hours | closing_time | when_closed |
openTimes | business_times | door_times | shop_times | hours_of | opens_at | open_until | hoursLookup |
shutting_time | venue_hours | place_times | openingInfo"""),
    phrases("""Get the opening hours of a place. | Opening hours | Returns when a place is open. |
Opening times of shops | Looks up opening hours. | When a shop opens and closes | Business hours |
Shows the opening hours of a shop. | Tells when a place opens and closes. | Finds the opening times of a place. |
Hours of a shop | Opening hours lookup | Gives the hours of a shop or an office. | Checks when a place is open. |
Whether a shop is open | Opening times | Returns the opening times. | Fetch the business hours of a place. |
The hours when a place is open. | Use this to get opening hours. |
Use this tool when the user asks when something is open. | Shop hours | Store hours by name |
Open and closing times of a place. | Find out when a shop closes."""),
    (Field(("place", "shop", "name", "store", "where", "business"), "string", text(pick(SHOPS))),),
    phrases("""When does the {0} open? | When is the {0} open? | What are the opening hours of the {0}? |
Is the {0} open? | When does the {0} close? | Opening hours of the {0}? | How long is the {0} open? |
Until when is the {0} open? | Tell me the opening hours of the {0}. | Look up when the {0} opens. |
Is the {0} open today? | When do they open the {0}? | When do they close the {0}? | When does the {0} open today? |
When does the {0} close today? | When is the {0} open today? | When will the {0} open? |
When does the {0} open and close? | When can I go to the {0}? | What time does the {0} open? |
What time does the {0} close? | At what time does the {0} open? | At what time does the {0} close? |
From when to when is the {0} open? | From when is the {0} open? | Till when is the {0} open? |
Until when can I go to the {0}? | Until what time is the {0} open? | How long does the {0} stay open? |
How long is the {0} open today? | How late does the {0} close? | How late is the {0} open? |
How early does the {0} open? | What are the hours of the {0}? | What hours is the {0} open? |
What are today's opening hours of the {0}? | What are the opening times of the {0}? |
Which opening hours does the {0} have? | Which hours is the {0} open? | Opening times of the {0}? |
Opening times of the {0}, please. | Hours of the {0}, please. | The opening hours of the {0}, please. |
{0} opening hours | {0} hours | opening hours {0} | {0}: when is it open? | {0} open today? |
The {0}, when does it open? | The {0}, is it still open? | Is the {0} still open? | Is the {0} open now? |
Is the {0} already closed? | Is the {0} closed today? | Is the {0} closed now? | Has the {0} closed already? |
Does the {0} open early? | Does the {0} close soon? | Does the {0} open today? |
Can I still go to the {0}, or is it closed? | Will the {0} be open this evening? | Will the {0} be closed today? |
Tell me when the {0} opens. | Tell me when the {0} closes. | Tell me the hours of the {0}. |
Give me the opening hours of the {0}. | Give me the hours of the {0}. | Get the opening hours of the {0}. |
Get me the opening times of the {0}. | Find the opening hours of the {0}. | Find out when the {0} opens. |
Find out when the {0} closes. | Look up the opening hours of the {0}. | Look up the hours of the {0}. |
Show me the opening hours of the {0}. | Check when the {0} opens. | Check the opening times of the {0}. |
Check if the {0} is open. | Do you know when the {0} opens? | Do you know if the {0} is open? |
Do you know the opening hours of the {0}? | Can you tell me when the {0} closes? |
I have to go to the {0}. When does it open? | I want to go to the {0}. Is it open? |
I need to go to the {0} after work. Is it still open? | I need the opening hours of the {0}. |
The {0} is closed. When does it open? | I want to know when the {0} is open. |
I would like to visit the {0}. When is it open? | Is the {0} closed on Sundays? Show the hours. |
Till when can I visit the {0}? | Doors of the {0} open at what time? | Can I still go to the {0}? When does it shut? |
Visiting hours of the {0}? | Hours of business: {0} | At which hour does the {0} start its day? |
The {0} lets people in when? | The sign at the {0} gives which hours? | Opening time, {0}? |
Closing time of the {0}? | Until what hour is the {0} open? | When do they open at the {0}? |
When do they close the doors of the {0}? | When do they lock the {0}? | When do people get into the {0}? |
When do you open the {0}? | When do we get into the {0}? | When will they open the {0}? |
When will they close the {0}? | When does the {0} open its doors? | When does the {0} start in the morning? |
When is the {0} shut? | How early is the {0} open? | How early can I go to the {0}? |
How early do they open the {0}? | How early will the {0} open? | How late will the {0} close? |
How late can I go to the {0}? | How late do they close the {0}? | How soon does the {0} open? |
How soon does the {0} close? | Tell me if the {0} is open. | Tell me until when the {0} is open. |
Tell me when they open the {0}. | Tell me how long the {0} is open. | Say when the {0} closes. |
Say when the {0} opens. | I must go to the {0}. When does it close? | I am on my way to the {0}. Is it open? |
I stand before the {0}. When does it open? | Did the {0} close? | Did they close the {0}? |
Do they open the {0} today? | The {0} closes when? | The {0}: opening hours? | {0}, open now? | is the {0} open |
when does the {0} close"""),
    (
        Outcome(
            ("hours", "open", "opening_hours", "times"),
            lambda s: f"{s.integer(6, 11):02d}:{s.any(('00', '30'))} to {s.integer(12, 23)}:{s.any(('00', '30'))}",
            "{}",
        ),
    ),
    "The {0} is open: {o}.",
)

CALORIES = Concept(
    phrases("""get_calories | calories | calorie_lookup | count_calories | calories_in | nutrition | getCalories |
food_calories | calorie_count | find_calories | nutrition_facts | get_nutrition | check_calories | calories_of |
kcal | calorieCount | food_energy | lookup_calories | nutrition_lookup | show_calories | calorie_counter |
calories_of_food | read_calories | nutrition_info | fetch_calories | kcal_of | energy_in | diet_info |
caloriesOf | kilocalories | nutrient_lookup | portion_energy | kcalLookup | nutrition_value | energy_content |
food_facts | diet_calories | eatEnergy | calorie_table"""),
    phrases("""Get the calories of a food. | Calorie counter | Returns the calories. | Nutrition facts |
Looks up calories. | How many calories a food has | Nutrition of a food | Counts calories. |
Gives the energy of a food. | Calories | Tells how many calories are in a dish. | Calorie lookup by food. |
Nutrition lookup | Energy of a food in kcal | Finds the calories in a food. | Shows how much energy a food has. |
Returns the nutrition facts of a food. | Calorie table | Number of calories in a food. | Use this to count calories. |
The calories in a dish | Use this tool when the user asks about calories. | Reads the calorie table. |
Calories of food | Fetch the calories of something to eat."""),
    (FOOD,),
    phrases("""How many calories does {0} have? | How many calories are in {0}? | Calories of {0}? |
Calories in {0}? | What are the calories of {0}? | Tell me the calories of {0}. | Count the calories of {0}. |
Look up the calories in {0}. | How much energy is in {0}? | Does {0} have many calories? |
I eat {0}. How many calories is that? | How many calories has {0}? | How many calories has {0} got? |
How many calories are there in {0}? | How many calories do I get from {0}? | How many calories do I eat with {0}? |
How many calories will {0} give me? | How many calories is {0}? | How many kcal does {0} have? |
How many kcal are in {0}? | How many kcal is {0}? | Kcal of {0}? | kcal in {0} | Give me the kcal of {0}. |
What is the number of calories in {0}? | What's the calorie count of {0}? | What is the calorie count of {0}? |
Calorie count of {0}, please. | Get the calorie count for {0}. | Is {0} high in calories? | Is {0} low in calories? |
Is {0} full of calories? | Are there many calories in {0}? | Are there a lot of calories in {0}? |
Does {0} have a lot of calories? | Is there much energy in {0}? | How much energy does {0} have? |
How much energy does {0} give me? | What is the energy of {0}? | What energy does {0} have in kcal? |
What are the nutrition facts of {0}? | Nutrition facts of {0}? | Show the nutrition facts for {0}. |
Get me the nutrition facts of {0}. | {0} nutrition | nutrition {0} | {0} calories | calories {0} |
{0}, how many calories? | how many calories in {0} | The calories of {0}, please. | The calories in {0}, please. |
Give me the calories of {0}. | Give me the calories in {0}. | Get the calories of {0}. | Find the calories in {0}. |
Find out how many calories {0} has. | Check the calories of {0}. | Check how many calories are in {0}. |
Look up how many calories {0} has. | Look up {0} in the calorie table. | Show me the calories of {0}. |
Tell me how many calories are in {0}. | Tell me how many calories {0} has. | Tell me how much energy {0} has. |
Do you know how many calories {0} has? | Do you know the calories of {0}? | Can you count the calories in {0}? |
Can you tell me the calories of {0}? | Could you look up the calories of {0}? |
Please count the calories of {0} for me. | I had {0} for lunch. How many calories was that? |
I had {0} for breakfast. Count the calories. | I ate {0}. How many calories was it? |
I am on a diet. How many calories does {0} have? | I count calories. What about {0}? |
I want to know the calories of {0}. | I need the calories of {0} for my diet. |
I would like to know how many calories {0} has. | We have {0} for dinner. How many calories is that? |
For my diet: calories of {0}? | Does {0} fit my diet? How many calories is it? |
What does the calorie table say for {0}? | Is there a lot of energy in {0}? | Is {0} fattening? How many calories? |
Energy in {0}? | Food energy of {0}? | How much energy does {0} give? | Kilocalories in {0}? |
I am on a diet. Calories of {0}? | Diet question: calories in {0}? | Does {0} make fat? Give the calories. |
A portion of {0} has how many calories? | Nutrition facts: {0} | Nutrition of {0}, please. | kcal {0} |
How rich is {0} in calories? | Is there a lot of kcal in {0}? | Is there a lot of fat and energy in {0}? |
Is there a lot of energy in a portion of {0}? | Are there lots of calories in {0}? | Is {0} rich in energy? |
Is {0} light food? Give the calories. | Is {0} heavy food? Give the calories. |
Is {0} good for my diet? Check the calories. | How many calories would {0} give me? |
How many calories will I get from {0}? | How many calories will be in {0}? | How many calories does {0} give? |
How many calories does {0} bring me? | How many calories do I take in with {0}? | How many calories can {0} have? |
How many calories would I eat with {0}? | How much energy will {0} give me? | How much energy would I get from {0}? |
How much energy can I get from {0}? | What calories will {0} give me? | What will {0} give me in kcal? |
Will {0} give me many calories? | Will {0} give me energy? How many kcal? | Does {0} give me many calories? |
Does {0} give much energy? | If I eat {0}, how many calories is that? | When I eat {0}, how many calories do I get? |
I will have {0}. How many calories is that? | I cook {0}. How many calories does it have? |
I love {0}, but how many calories has it? | My snack is {0}. Count the calories. |
{0} for dinner: how many calories? | {0}: how much energy? | energy of {0} | kcal of {0}"""),
    (Outcome(("calories", "kcal", "energy", "count"), amount(5, 900), "{} calories"),),
    "{0} has {o}.",
)
