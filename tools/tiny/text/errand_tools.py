"""Everyday tools of errands: travel, shopping, money."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, decimal, number, text
from tools.tiny.text.lookup_fields import COUNT, FOOD, PERSON
from tools.tiny.text.source import phrases

BOOK_FLIGHT = Concept(
    phrases("""book_flight | flight | find_flight | search_flights | flights | bookFlight | flight_search |
get_flights | plan_flight | fly | find_flights | flightSearch | flight_finder | findFlight | flight_booking |
reserve_flight | air_travel | plane_ticket | book_plane | search_flight | lookup_flight | flight_lookup |
show_flights | buy_flight | get_flight | flight_offers | airline_search | plane_search | air_ticket |
flightBooking | fly_me | search_planes | airline_offers | get_airfare | flight_query | ticketFlight |
airfare_lookup | find_plane | travel_by_air | flights_between"""),
    phrases("""Find a flight. | Flight search | Books a flight between cities. | Search flights | Flights. |
Flies you somewhere. | Book a flight. | Finds a flight between two cities. | Flight booking | Find a plane. |
Search for flights between cities | Looks for flights. | Books a plane ticket. | Plane tickets. |
Flight from one city to another. | Searches flights on a date. | Flight finder | Find flights for a date. |
Get a flight. | Flights between two cities on a date. | Air travel. | Looks up a flight."""),
    (
        Field(
            ("from", "origin", "departure", "from_city", "start", "source", "departure_city", "fly_from"),
            "string",
            text(words.city),
        ),
        Field(
            ("to", "destination", "arrival", "to_city", "target", "arrival_city", "fly_to", "end"),
            "string",
            text(words.city),
        ),
        Field(
            ("date", "day", "on", "when", "departure_date", "travel_date", "flight_date"), "string", text(words.date)
        ),
    ),
    phrases("""Find a flight from {0} to {1} on {2}. | Book a flight from {0} to {1} on {2}. |
I want to fly from {0} to {1} on {2}. | Flights from {0} to {1}, {2} | On {2} I fly from {0} to {1}. |
Fly me from {0} to {1} on {2}. | I need a flight to {1} from {0} on {2}. | Is there a flight from {0} to {1} on {2}? |
I have to fly from {0} to {1} on {2}. | Search flights from {0} to {1} on {2}. | Flight: {0} to {1}, {2} |
Get me from {0} to {1} by plane on {2}. | A flight from {0} to {1} on {2}, please. |
Show flights from {0} to {1} for {2}. | On {2} I travel from {0} to {1} by plane. |
What flights go from {0} to {1} on {2}? | Can you find a flight from {0} to {1} on {2}? |
Could you book me a flight from {0} to {1} on {2}? | flight {0} to {1} {2} | flights {0} {1} {2} |
fly {0} to {1} on {2} | I need a flight from {0} to {1} on {2}. | I need to fly from {0} to {1} on {2}. |
I need to be in {1} on {2}. Book a flight from {0}. | I'm in {0} and want to fly to {1} on {2}. |
I'd like to fly to {1} on {2}, starting in {0}. | I'd like a flight from {0} to {1} on {2}. |
Look for a flight from {0} to {1} on {2}. | Look for flights to {1} from {0} on {2}. |
Search a plane from {0} to {1} for {2}. | Find me a plane from {0} to {1} on {2}. |
Find flights to {1} on {2}, leaving from {0}. | Which flights leave {0} for {1} on {2}? |
Which planes fly from {0} to {1} on {2}? | Are there flights from {0} to {1} on {2}? |
Are there any planes from {0} to {1} on {2}? | Does a plane go from {0} to {1} on {2}? |
When can I fly from {0} to {1} on {2}? | Book a plane ticket from {0} to {1} for {2}. |
Buy me a plane ticket from {0} to {1} on {2}. | A plane ticket from {0} to {1}, {2}, please. |
Get me a flight to {1} on {2} from {0}. | Get a flight from {0} to {1} for {2}. | On {2}, fly me from {0} to {1}. |
On {2} I need a plane from {0} to {1}. | On {2} I have to fly to {1} from {0}. |
My flight goes from {0} to {1} on {2}. Book it. | We want to fly from {0} to {1} on {2}. |
We are flying from {0} to {1} on {2}. Find a flight. | From {0} to {1} by plane, {2}. | From {0}, fly to {1} on {2}. |
Take me from {0} to {1} by plane on {2}. | Would you search flights from {0} to {1} on {2}? |
Let's fly from {0} to {1} on {2}. | Date {2}, flight from {0} to {1}. | Leaving {0} on {2}, I want to fly to {1}. |
Show me flights from {0} to {1} on {2}. | Show planes from {0} to {1} on {2}. |
I have to be in {1} on {2} and start in {0}. Which planes? | Flights out of {0} into {1}, {2} |
On {2} I travel by air: {0} to {1} | Air ticket {0} to {1}, {2} | Plane tickets for {2}, from {0} to {1}, please. |
What planes leave {0} for {1} on {2}? | Which airlines go from {0} to {1} on {2}? |
I take off from {0} on {2} and land in {1}. | Leaving {0}, landing in {1}, on {2}. Find a plane. |
Get me from {0} to {1} by air on {2}. | Departure {0}, arrival {1}, date {2}. Flights? |
I want to board a plane in {0} on {2} for {1}. | How can I fly from {0} to {1} on {2}? |
Airfare from {0} to {1}, {2}, please. | Holiday on {2}: fly from {0} to {1} | Our trip: {0} to {1}, by plane, {2} |
Check flights on {2} from {0} to {1}. | Any plane on {2} going from {0} to {1}? |
Are there seats on a plane from {0} to {1} on {2}? | One seat by air from {0} to {1}, {2}. |
Travel by plane on {2}. Start: {0}. Goal: {1}. | List flights: {0} - {1}, {2} |
A plane from {0}, to {1}, {2}, please. | We fly to {1} from {0} on {2}. Get tickets. |
Quickest flight from {0} to {1} on {2}? | Reserve a seat on the plane from {0} to {1}, {2}. |
A one-way flight {0} to {1}, {2}. | My flight should go from {0} to {1} on {2}. |
From the airport in {0} to {1} on {2}, find flights. | I need a plane on {2}: {0} to {1} |
Air travel for {2}, {0} to {1}. | Find air tickets on {2} from {0} to {1}. | flight {0} {1} {2} | fly {0} {1} {2} |
plane {0} {1} {2} | {0} {1} {2} flight | {0} {1} {2}, by plane | plane {0} to {1} {2} | book flight {0} {1} {2} |
find flights {0} {1} {2} | search flights {0} {1} {2} | {0} to {1} by plane, {2} | flights {2} {0} {1} |
flights on {2} {0} {1} | air ticket {0} {1} {2}"""),
    (
        Outcome(("flight", "number", "code"), words.identifier, "flight {}"),
        Outcome(("price", "cost", "fare"), amount(30, 999), "price {}"),
    ),
    "From {0} to {1}: {o}.",
)

ORDER_FOOD = Concept(
    phrases("""order_food | add_to_cart | buy | order_item | cart_add | shop | addToCart | order | buy_item |
buy_food | cart | food_order | place_order | shopping_cart | buy_groceries | order_groceries | groceries |
orderFood | add_item | add_food | buyItem | cart_item | order_product | grocery_order | put_in_cart |
add_item_to_cart | purchase | shop_item | food_cart | cart_insert | foodOrder | place_food_order | basket_add |
purchase_item | shop_for | deliver_food | request_delivery | meal_order | orderItem | checkout_food | supply_item"""),
    phrases("""Order food. | Shop | Adds food to the cart. | Buy something | Puts items in the cart. |
Order items. | Buy food. | Orders food. | Order something to eat | Food order. | Adds an item to the cart. |
Puts food in the shopping cart. | Shopping cart | Buys an item. | Groceries. | Order groceries online |
Buys groceries. | Adds some food to the cart. | Place an order for food. | Food shopping. |
Put something in the cart | Buy a number of items."""),
    (FOOD, COUNT),
    phrases("""Order {1} {0}. | Buy {1} of {0}. | Add {1} {0} to the cart. | I want {1} {0}. |
Put {1} {0} in my cart. | Please order {1} of the {0}. | Get me {1} {0}. | {1} x {0}, please. | I need {1} {0}. |
{1} {0}, please. | Bring me {1} {0}. | Send me {1} {0}. | My order: {1} {0} | I take {1} {0}. |
{1} of the {0}, please. | Shop for {1} {0}. | Add {1} times {0}. | We need {1} of {0}. | Can you order {1} {0}? |
Could you add {1} {0} to my cart? | order {1} {0} | buy {1} {0} | add {1} {0} to cart | cart: {1} {0} |
{0}, {1} of them, in the cart. | {0}: {1} pieces. Order them. | Order {0}, {1} pieces. |
Order {0} for me, {1} of it. | Order {1} pieces of {0}. | Place an order for {1} {0}. | Place an order: {1} of {0} |
Buy {1} pieces of {0}. | Buy me {1} of the {0}. | Put {1} of the {0} in the shopping cart. |
Put {0} in the cart, {1} times. | Put {1} {0} on my order. | Add {0} to the order, {1} pieces. |
Add {0} to the shopping cart: {1} | Add {1} of {0} to my order. | I'd like {1} {0}. | I'd like to order {1} {0}. |
I'd like to buy {1} of the {0}. | I need to buy {1} {0}. | I have no {0}. Order {1}. |
I want to order {1} of the {0}. | We are out of {0}. Buy {1}. | We have no more {0}. Order {1} of it. |
We want {1} {0}. Put it in the cart. | There is no {0} left at home. Buy {1}. | Can I get {1} {0}? |
Could I have {1} {0}? | Could we order {1} of {0}? | Would you buy {1} {0} for me? | Let me have {1} {0}. |
Let's buy {1} {0}. | Let's order {0}, {1} pieces. | Get {1} of the {0} for the kitchen. | My cart needs {1} {0}. |
For dinner I need {1} {0}. Order it. | From the shop: {1} {0} | Shopping: {1} of {0} | Send me {1} of the {0}. |
Can you send me {1} {0}? | Please send {1} of {0} to my home. | Put {1} {0} in the basket. |
We ran out of it: {1} {0}, please. | Our fridge needs {1} {0}. | The shop should bring {1} {0}. |
Deliver {1} {0} to me. | {1} units of {0} into my basket. | Grocery order: {0}, {1} | On the shopping order: {1} {0} |
Please purchase {1} {0}. | Purchase {1} pieces of {0}. | Have {1} {0} delivered. | Groceries: {1} {0} |
Quantity {1}, product {0}. Order. | My basket needs {1} more {0}. | Would you purchase {1} {0} for us? |
A delivery of {1} {0}, please. | I am hungry. Order {1} {0}. | Let the grocer send {1} {0}. |
Request {1} {0} from the store. | Supply the kitchen with {1} {0}. | Stock up on {0}: {1} pieces |
Checkout with {1} {0}. | Into the cart: {1} x {0} | {0}: {1} times into the cart |
The recipe needs {1} {0}. Buy them. | Please have someone deliver {1} {0}. | Grab {1} {0} from the shop. |
Get {1} pieces of {0} delivered. | I will take {1} {0}, to go. | How about ordering {1} {0}? | Lunch order: {1} {0} |
Can I get {1} of the {0}? | Can I get {1} pieces of {0}? | Can I have {1} {0}? | Can I buy {1} {0}? |
Can I order {1} {0}? | Can we get {1} {0}? | Could I get {1} {0}? | May I have {1} {0}? | Can you get me {1} {0}? |
Can you get {1} {0} for us?"""),
    (Outcome(("status", "state", "cart"), lambda s: s.any(("added", "ok", "ordered")), "{}"),),
    "{1} {0}: {o}.",
)

SEND_MONEY = Concept(
    phrases("""send_money | transfer_money | pay | transfer | payment | sendMoney | pay_person | bank_transfer |
make_payment | transferMoney | send_payment | money_transfer | pay_money | wire_money | give_money | pay_to |
new_payment | send_euros | make_transfer | pay_contact | sendPayment | settle_debt | remit | money_wire |
transfer_funds | euroTransfer | payout | fund_transfer | payment_send | wire_transfer | send_funds |
transferFunds | repay_person | reimburse | remit_money | p2p_payment | sendCash | credit_account | issue_payment |
outgoing_transfer | submitPayment | pay_friend | execute_transfer | transfer_cash | pay_recipient | payPayee |
hand_over_money | deposit_to"""),
    phrases("""Send money. | Payment | Transfers money to a person. | Pays somebody. | Bank transfer |
Sends euros to a contact. | Make a payment to a person | Transfer money. | Pay a person. |
Pays an amount to somebody. | Money transfer. | Sends a payment. | Makes a bank transfer. |
Sends an amount of money. | Give money to a person | Use this to pay people."""),
    (Field(("amount", "euros", "sum", "value", "money", "eur"), "integer", number(1, 900)), PERSON),
    phrases("""Send {0} euros to {1}. | Send {1} {0} euros. | Pay {1} {0} euros. | Pay {0} euros to {1}. |
Transfer {0} euros to {1}. | Can you send {0} euros to {1}? | Can you pay {1} {0} euros for me? |
Could you transfer {0} euros to {1}? | Could you send {1} some money? {0} euros. | send {1} {0} euros |
pay {1} {0} euros | transfer {0} to {1} | {0} euros to {1} | {0} euros for {1}, please. |
I owe {1} {0} euros. Pay it. | I owe {1} {0} euros. Send the money. | I owe {0} euros to {1}. Transfer them. |
I have to pay {1} {0} euros. | I have to pay {0} euros to {1}. | I must send {0} euros to {1}. |
I need to send {1} {0} euros. | I need to transfer {0} euros to {1}. | I want to pay {1} {0} euros. |
I want to give {1} {0} euros. | I want to send money to {1}: {0} euros. |
I'd like to transfer {0} euros to {1}. | I'd like to pay {0} euros to {1}. |
I borrowed {0} euros from {1}. Pay them back. | Pay back {0} euros to {1}. | Pay {1} back. It was {0} euros. |
{1} gets {0} euros from me. | {1} gets {0} euros. Make the payment. | {1} needs money. Send {0} euros. |
{1} paid {0} euros for me. Send the money back. | Give {1} {0} euros. |
Give {0} euros to {1} by bank transfer. | Make a payment of {0} euros to {1}. |
Make a bank transfer to {1}: {0} euros. | Make a transfer of {0} euros to {1}. | Payment to {1}: {0} euros. |
Payment of {0} euros to {1}, please. | Bank transfer of {0} euros to {1}. | Bank transfer: {1}, {0} euros. |
Money for {1}: {0} euros. | To {1}, send {0} euros. | Let {1} have {0} euros. |
Would you pay {1}? It is {0} euros. | Would you transfer some money to {1}? {0} euros. |
Pay {1} back: {0} euros. | Wire {0} euros to {1}. | Wire {1} {0} euros, please. |
My debt to {1} is {0} euros. Settle it. | Bank transfer, {0} euros, to {1}. | From my account to {1}: {0} euros |
{1} lent me {0} euros. Send it back. | Settle my bill with {1}: {0} euros | Payment of {0} euros, receiver {1}. |
Recipient {1}, amount {0} euros. | Give {0} euros from my account to {1}. | Could you wire {0} euros to {1}? |
Move {0} euros to {1}. | Refund {0} euros to {1}. | {1} sent me a bill of {0} euros. Pay it. |
Please remit {0} euros to {1}. | I must pay {1}: {0} euros | Hand {0} euros over to {1}. |
A bank transfer to {1}, {0} euros, please. | Shift {0} euros to the account of {1}. |
Send cash to {1}: {0} euros | {1} needs {0} euros. Transfer it now. | Rent is due: {0} euros to {1} |
For the concert ticket, {0} euros to {1}. | Split the bill: {0} euros to {1} | Deposit {0} euros with {1}. |
Credit {1} with {0} euros. | Will you pay {1} the {0} euros? | Money to {1}, {0} euros. |
Here is what {1} gets: {0} euros | A sum of {0} euros should go to {1}. | {1} must be paid {0} euros. |
Deposit {0} euros in the bank account of {1}. | Reimburse {1} with {0} euros. |
{1} is waiting for {0} euros from me. Pay up. | Settle up with {1}, {0} euros. |
Initiate a transfer: {0} euros, recipient {1}. | Gift {1} {0} euros from my account. | Slip {1} {0} euros. |
{0} euros out of my account to {1}, please. | {1} should receive {0} euros from my account. | pay {1} {0} |
Execute a bank transfer. Amount {0} euros, payee {1}. | {1} is owed {0} euros by me. Settle it. |
Can we get {0} euros across to {1}? | Repay {1} {0} euros. | Please have my bank pay {0} euros to {1}. |
wire {1} {0} | yo, shoot {0} euros over to {1} | Recipient {1}, sum {0} euros. Transfer it. |
Would you reimburse {1}? The sum is {0} euros. | Payee: {1}. Amount: {0} euros. |
Would you mind paying {1} the {0} euros?"""),
    (Outcome(("status", "state", "payment"), lambda s: s.any(("sent", "ok", "paid", "queued")), "{}"),),
    "{0} euros to {1}: {o}.",
)

LOG_EXPENSE = Concept(
    phrases("""log_expense | add_expense | expense | track_expense | save_expense | logExpense | expenses |
spending | log_spending | record_expense | addExpense | expense_log | expense_add | track_spending |
new_expense | money_spent | budget_log | add_spending | spent | expense_tracker | budget_add | expense_record |
note_spending | ledger_add | cost_entry | spendingLog | enter_cost | bookkeeping_add | receipt_add |
expenseEntry | track_money | budget_entry | note_cost | enter_expense | expenditure | log_purchase |
recordSpending | add_cost | trackCost | save_cost | write_expense | post_expense | create_expense |
register_purchase | cost_log | spending_tracker | store_receipt"""),
    phrases("""Log an expense. | Expenses | Adds an expense to the list. | Tracks what you spend. |
Record an expense | Expense tracker | Saves what was paid for something. | Tracks spending. |
Logs what you spent. | Log your spending | Record of money spent. | Adds to your spending. | Saves an expense. |
New expense. | Records what you paid. | Keep track of expenses"""),
    (Field(("amount", "cost", "euros", "spent", "value", "price"), "number", decimal(1, 400)), FOOD),
    phrases("""I spent {0} on {1}. | I spent {0} euros on {1}. Log it. | I paid {0} for {1}. |
I paid {0} euros for {1}. Log the expense. | I just paid {0} for {1}. | I just spent {0} euros on {1}. |
Log an expense of {0} for {1}. | Log {0} euros for {1}. | Log the expense: {1}, {0} euros. |
Log my spending: {0} on {1}. | Can you log {0} euros for {1}? | Can you add {0} euros for {1} to my expenses? |
Could you record that I paid {0} for {1}? | Could you track {0} euros spent on {1}? | expense {0} {1} |
spent {0} on {1} | paid {0} for {1} | Add an expense: {0} for {1}. | Add {0} for {1} to my spending. |
Add {0} euros to my expenses, for {1}. | Add the expense for {1}: {0} euros. | Record {0} euros spent on {1}. |
Record an expense of {0} euros: {1} | Track this expense: {0} euros for {1}. | Track {0} euros, paid for {1}. |
New expense: {1}, {0} euros. | New expense of {0} for {1}. | Expense: {0} euros for {1}. |
Expense for {1}: {0} | My expenses: {0} euros for {1}. | My spending on {1} was {0} euros. |
My {1} was {0} euros. Log the expense. | The {1} cost me {0} euros. |
The {1} cost me {0}. Add it to my expenses. | Today I spent {0} on {1}. | Today I paid {0} euros for {1}. |
We spent {0} euros on {1}. Record it. | We paid {0} for {1}. Track it. | {0} euros went to {1}. Log it. |
{0} euros spent on {1}. | {0} paid for {1}. Record the expense. | For {1} I paid {0}. |
For {1} I spent {0} euros. Track it. | On {1} I spent {0}. | Would you log the expense for {1}? It was {0}. |
Put {0} euros for {1} in my expenses. | Enter an expense: {0} euros, {1} | I want to log {0} spent on {1}. |
{1} cost {0} euros. Log it. | The cost of the {1} was {0}. Record it. | It cost me {0} to buy {1}. Log the expense. |
Cost of {1}: {0} euros. Track it. | Costs today: {0} euros for {1}. | Write into my budget: {0} euros, {1} |
My {1} was {0} euros. Log it. | {0} euros went to {1}. Note the expense. |
The {1} cost me {0}. Add it to my spending. | Bookkeeping: {0} euros, {1} | Budget entry of {0} euros for {1}. |
I bought {1} and paid {0}. Into the expenses, please. | Put {0} euros under {1} in my expenses. |
Household book: {1}, {0} euros | Spending: {0} on {1} | Add {0} euros of {1} to the expense list. |
Receipt for {1}: {0} euros. Enter it. | For {1} I gave {0} euros. Record that. |
File an expense. {0} euros, {1}. | Document that I spent {0} on {1}. |
The bill for {1} was {0} euros. Put it in the expenses. | Register {0} euros spent on {1}. |
Just paid {0} for {1}, track it. | Money out: {0} euros, {1} | Expenses grow: {0} euros for {1} |
Note that {1} cost {0} euros. | Our budget shrinks by {0} euros because of {1}. |
An outlay of {0} euros for {1}. | {1} took {0} euros of my money. Log that. | Keep the books: {0} for {1} |
Today I paid {0} euros for {1}. Write it down as spending. | Tally {0} euros for {1}. |
Another expense: {1}, {0} euros | New cost in the budget: {0} euros, {1} |
My bill for {1} came to {0} euros. Log the cost. | Expense tracker: {0} euros, {1}. |
Insert {0} into the household ledger for {1}. | Can you note down an expense, {0} for {1}? |
Since I track spending, add {0} euros, bought {1}. | I was charged {0} for {1}. Register the expense. |
Include {0} in my expense report for {1}. | logging {0} euros for {1} | This week we spent {0} on {1}. |
Can you write {0} euros for {1} into my budget? | {0} was what I paid for {1}. |
The total for {1} was {0}. Put it in the budget. | I've bought {1} for {0} euros. Note the expense. |
Document a purchase: {1}, price {0}. | Note an expense of {0} euros for {1}. |
I had to pay {0} for {1}. Write it in my budget. | Receipt total {0}, bought {1}. |
{0} out of my pocket for {1}. Book it. | Charge {0} to my budget for {1}. |
At the store, {0} euros left my wallet for {1}. | Keep track of {0} euros I spent on {1}. |
So that my budget stays right, record {0} for {1}."""),
    (
        Outcome(("status", "state", "expense"), lambda s: s.any(("saved", "ok", "logged", "added")), "{}"),
        Outcome(("total", "sum", "spent_so_far", "month"), amount(10, 999), "total {}"),
    ),
    "{0} for {1}: {o}.",
)
