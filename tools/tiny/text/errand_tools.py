"""Everyday tools of errands and play: travel, shopping, money, dice, coins and passwords."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, decimal, number, text
from tools.tiny.text.lookup_fields import COUNT, FOOD, PERSON, RESULT
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
Fly me from {0} to {1} on {2}. | I need a flight to {1} from {0} on {2}. |
Is there a flight from {0} to {1} on {2}? | I have to fly from {0} to {1} on {2}. |
Search flights from {0} to {1} on {2}. | Flight: {0} to {1}, {2} | Get me from {0} to {1} by plane on {2}. |
A flight from {0} to {1} on {2}, please. | Show flights from {0} to {1} for {2}. |
On {2} I travel from {0} to {1} by plane. | What flights go from {0} to {1} on {2}? |
Can you find a flight from {0} to {1} on {2}? | Could you book me a flight from {0} to {1} on {2}? |
flight {0} to {1} {2} | flights {0} {1} {2} | fly {0} to {1} on {2} | I need a flight from {0} to {1} on {2}. |
I need to fly from {0} to {1} on {2}. | I need to be in {1} on {2}. Book a flight from {0}. |
I'm in {0} and want to fly to {1} on {2}. | I'd like to fly to {1} on {2}, starting in {0}. |
I'd like a flight from {0} to {1} on {2}. | Look for a flight from {0} to {1} on {2}. |
Look for flights to {1} from {0} on {2}. | Search a plane from {0} to {1} for {2}. |
Find me a plane from {0} to {1} on {2}. | Find flights to {1} on {2}, leaving from {0}. |
Which flights leave {0} for {1} on {2}? | Which planes fly from {0} to {1} on {2}? |
Are there flights from {0} to {1} on {2}? | Are there any planes from {0} to {1} on {2}? |
Does a plane go from {0} to {1} on {2}? | When can I fly from {0} to {1} on {2}? |
Book a plane ticket from {0} to {1} for {2}. | Buy me a plane ticket from {0} to {1} on {2}. |
A plane ticket from {0} to {1}, {2}, please. | Get me a flight to {1} on {2} from {0}. |
Get a flight from {0} to {1} for {2}. | On {2}, fly me from {0} to {1}. |
On {2} I need a plane from {0} to {1}. | On {2} I have to fly to {1} from {0}. |
My flight goes from {0} to {1} on {2}. Book it. | We want to fly from {0} to {1} on {2}. |
We are flying from {0} to {1} on {2}. Find a flight. | From {0} to {1} by plane, {2}. |
From {0}, fly to {1} on {2}. | Take me from {0} to {1} by plane on {2}. |
Would you search flights from {0} to {1} on {2}? | Let's fly from {0} to {1} on {2}. |
Date {2}, flight from {0} to {1}. | Leaving {0} on {2}, I want to fly to {1}. |
Show me flights from {0} to {1} on {2}. | Show planes from {0} to {1} on {2}. |
I have to be in {1} on {2} and start in {0}. Which planes? | Flights out of {0} into {1}, {2} |
On {2} I travel by air: {0} to {1} | Air ticket {0} to {1}, {2} |
Plane tickets for {2}, from {0} to {1}, please. | What planes leave {0} for {1} on {2}? |
Which airlines go from {0} to {1} on {2}? | I take off from {0} on {2} and land in {1}. |
Leaving {0}, landing in {1}, on {2}. Find a plane. | Get me from {0} to {1} by air on {2}. |
Departure {0}, arrival {1}, date {2}. Flights? | I want to board a plane in {0} on {2} for {1}. |
How can I fly from {0} to {1} on {2}? | Airfare from {0} to {1}, {2}, please. |
Holiday on {2}: fly from {0} to {1} | Our trip: {0} to {1}, by plane, {2} |
Check flights on {2} from {0} to {1}. | Any plane on {2} going from {0} to {1}? |
Are there seats on a plane from {0} to {1} on {2}? | One seat by air from {0} to {1}, {2}. |
Travel by plane on {2}. Start: {0}. Goal: {1}. | List flights: {0} - {1}, {2} |
A plane from {0}, to {1}, {2}, please. | We fly to {1} from {0} on {2}. Get tickets. |
Quickest flight from {0} to {1} on {2}? | Reserve a seat on the plane from {0} to {1}, {2}. |
A one-way flight {0} to {1}, {2}. | My flight should go from {0} to {1} on {2}. |
From the airport in {0} to {1} on {2}, find flights. | I need a plane on {2}: {0} to {1} |
Air travel for {2}, {0} to {1}. | Find air tickets on {2} from {0} to {1}."""),
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
Put {1} {0} in my cart. | Please order {1} of the {0}. | Get me {1} {0}. | {1} x {0}, please. |
I need {1} {0}. | {1} {0}, please. | Bring me {1} {0}. | Send me {1} {0}. | My order: {1} {0} |
I take {1} {0}. | {1} of the {0}, please. | Shop for {1} {0}. | Add {1} times {0}. | We need {1} of {0}. |
Can you order {1} {0}? | Could you add {1} {0} to my cart? | order {1} {0} | buy {1} {0} | add {1} {0} to cart |
cart: {1} {0} | {0}, {1} of them, in the cart. | {0}: {1} pieces. Order them. | Order {0}, {1} pieces. |
Order {0} for me, {1} of it. | Order {1} pieces of {0}. | Place an order for {1} {0}. |
Place an order: {1} of {0} | Buy {1} pieces of {0}. | Buy me {1} of the {0}. |
Put {1} of the {0} in the shopping cart. | Put {0} in the cart, {1} times. | Put {1} {0} on my order. |
Add {0} to the order, {1} pieces. | Add {0} to the shopping cart: {1} | Add {1} of {0} to my order. |
I'd like {1} {0}. | I'd like to order {1} {0}. | I'd like to buy {1} of the {0}. | I need to buy {1} {0}. |
I have no {0}. Order {1}. | I want to order {1} of the {0}. | We are out of {0}. Buy {1}. |
We have no more {0}. Order {1} of it. | We want {1} {0}. Put it in the cart. |
There is no {0} left at home. Buy {1}. | Can I get {1} {0}? | Could I have {1} {0}? |
Could we order {1} of {0}? | Would you buy {1} {0} for me? | Let me have {1} {0}. | Let's buy {1} {0}. |
Let's order {0}, {1} pieces. | Get {1} of the {0} for the kitchen. | My cart needs {1} {0}. |
For dinner I need {1} {0}. Order it. | From the shop: {1} {0} | Shopping: {1} of {0} |
Send me {1} of the {0}. | Can you send me {1} {0}? | Please send {1} of {0} to my home. |
Put {1} {0} in the basket. | We ran out of it: {1} {0}, please. | Our fridge needs {1} {0}. |
The shop should bring {1} {0}. | Deliver {1} {0} to me. | {1} units of {0} into my basket. |
Grocery order: {0}, {1} | On the shopping order: {1} {0} | Please purchase {1} {0}. |
Purchase {1} pieces of {0}. | Have {1} {0} delivered. | Groceries: {1} {0} | Quantity {1}, product {0}. Order. |
My basket needs {1} more {0}. | Would you purchase {1} {0} for us? | A delivery of {1} {0}, please. |
I am hungry. Order {1} {0}. | Let the grocer send {1} {0}. | Request {1} {0} from the store. |
Supply the kitchen with {1} {0}. | Stock up on {0}: {1} pieces | Checkout with {1} {0}. |
Into the cart: {1} x {0} | {0}: {1} times into the cart | The recipe needs {1} {0}. Buy them. |
Please have someone deliver {1} {0}. | Grab {1} {0} from the shop. | Get {1} pieces of {0} delivered. |
I will take {1} {0}, to go. | How about ordering {1} {0}? | Lunch order: {1} {0}"""),
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

ROLL_DICE = Concept(
    phrases("""roll_dice | dice | random_number | roll | throw_dice | rollDice | throw | random | get_random |
dice_roll | roll_die | randomNumber | die | die_roll | dice_throw | roll_a_die | diceRoll | throwDice |
roll_random | random_roll | random_int | randomInt | draw_number | pick_number | number_roll | cast_dice |
dice_roller | random_pick | cast_die | dieRoll | lucky_number | number_by_chance | toss_die | raffle_draw |
spin_wheel | game_die | dice_caster"""),
    phrases("""Roll a die. | Dice | Returns a random number. | Throw a die | Random number. | Rolls dice. |
Roll dice. | Rolls a die. | Throws a die with any number of sides. | A random number | Gives a random number. |
Dice roller | Throw dice. | Picks a random number. | Roll a die with some sides | Draws a number. |
Random roll. | Returns the roll of a die. | Throws the dice. | Die with any number of sides. |
Roll for a number. | Makes a random number."""),
    (
        Field(
            ("sides", "max", "faces", "n", "maximum", "number_of_sides", "highest", "limit"), "integer", number(4, 100)
        ),
    ),
    phrases("""Roll a die with {0} sides. | Throw a {0} sided die. | Random number up to {0}. | Roll a d{0}. |
Give me a number from 1 to {0}. | Roll the dice, {0} sides. | Pick a random number below {0}. |
Please roll a {0} sided die. | I need a random number up to {0}. | Roll {0}. | Dice with {0} sides, please. |
Throw the dice with {0} sides. | Choose a number from 1 to {0}. | Let the die with {0} sides roll. |
A d{0}, please. | Random: 1 to {0} | Draw a number up to {0}. | Can you roll a die with {0} sides? |
Could you roll a {0} sided die? | roll d{0} | roll a die {0} sides | random number 1 to {0} | dice {0} sides |
Roll one die that has {0} sides. | Roll me a number from 1 to {0}. | Roll a number up to {0}. |
Roll the {0} sided die for me. | Roll between 1 and {0}. | Throw a die with {0} sides. | Throw a d{0}. |
Throw me a die. It has {0} sides. | Throw a dice of {0} sides. | Give me a random number from 1 to {0}. |
Give me a random number. At most {0}. | Give me a roll of a d{0}. | Pick a number from 1 to {0}. |
Pick a random number between 1 and {0}. | Pick any number up to {0}. | Choose a random number up to {0}. |
Choose a number between 1 and {0} at random. | Draw a random number from 1 to {0}. |
Draw a number between 1 and {0}. | I need a roll of a {0} sided die. | I need a number between 1 and {0}. |
I want to roll a d{0}. | I want a random number from 1 to {0}. | I'd like to throw a {0} sided die. |
I'd like a random number. The highest is {0}. | My die has {0} sides. Roll it. |
The die has {0} sides. Throw it. | Our game uses a d{0}. Roll it. | We play with a {0} sided die. Throw it. |
Would you throw the d{0}? | Let's roll a d{0}. | Let's throw a die with {0} sides. |
Let me have a number from 1 to {0}. | Random number, please, from 1 to {0}. |
A random number up to {0}, please. | A roll of a die with {0} sides, please. | Die with {0} sides: roll it. |
Dice roll, {0} sides. | Cast a die of {0} sides. | Give me a lucky number from 1 to {0}. |
Draw a number between one and {0}. | Chance decides: 1 to {0} | Any number up to {0}, at random. |
Pick at random from 1 to {0}. | My board game needs a die with {0} sides. | {0} sides on the die. Roll! |
Use a die with {0} faces. | Shake the die, it has {0} sides. | What does a die with {0} sides show? |
It is my turn to roll. The die has {0} sides. | Surprise me with a number between 1 and {0}. |
Randomly choose a number below or equal to {0}. | Please cast the die, {0} faces. |
Throw it: a die with {0} sides | I play a game with a die of {0} sides. Throw it. | A random draw from 1 to {0}. |
Let the dice decide, {0} sides. | One throw of a die with {0} faces. | A number by chance, at most {0}. |
Roll for me, sides: {0} | Generate a random integer up to {0}. | Raffle: draw a number from 1 to {0} |
Spin a wheel with {0} numbers. | Give me some chance value from 1 to {0}. |
The wizard rolls a die with {0} sides. | Toss a die that has {0} sides. | Dice: {0} faces, one throw |
Which number comes up on a die with {0} faces?"""),
    (Outcome(("roll", *RESULT), amount(1, 100), "{}"),),
    "You rolled {o}.",
)

MAKE_PASSWORD = Concept(
    phrases("""make_password | generate_password | password | new_password | create_password |
passwordGenerator | password_generator | random_password | makePassword | gen_password | get_password |
password_maker | safe_password | password_new | strong_password | invent_password | generatePassword |
password_create | pick_password | secret_generator | secret_maker | passwordCreate | pass_generator |
login_secret | random_secret | passphrase_make | credential_maker | suggest_password | password_builder |
makeSecret | secure_key | compose_password | generate_passphrase | pw_gen | pwgen | gen_passphrase |
secure_password | build_password | passwd | pw_maker | craft_password | produce_password | passwordBuilder |
login_password | fresh_password | secret_key_gen | propose_password | create_secret | get_passphrase | newSecret |
password_suggestion | pwd_generator | random_credentials"""),
    phrases("""Make a password. | Password generator | Creates a random password. | New password |
Generates a safe password. | Invents a password. | Makes a strong password of some length. |
Generate a password | Creates a password. | Random password. | Password with a number of characters. |
Gives you a new password. | Returns a strong password. | Password maker. | Makes a safe password. |
Create a secret password"""),
    (Field(("length", "characters", "size", "chars", "count", "n"), "integer", number(6, 40)),),
    phrases("""Make a password with {0} characters. | Make me a new password, {0} characters. |
Make a password of length {0}. | Make a safe password. Length: {0}. | Generate a password with {0} characters. |
Generate a safe password of {0} characters. | Generate a random password, length {0}. |
Create a password of {0} characters. | Create a strong password with {0} characters. |
Create a new password. It should have {0} characters. | Can you make a password with {0} characters? |
Can you generate a password of length {0}? | Could you create a password for me? {0} characters. |
Could you invent a password with {0} characters? | password {0} characters | new password {0} |
random password length {0} | I need a password with {0} characters. | I need a new password of length {0}. |
I need a strong password, {0} characters long. | I want a password that has {0} characters. |
I want a safe password of {0} characters. | I'd like a random password with {0} characters. |
I'd like a new password, {0} characters long. | Give me a password of {0} characters. |
Give me a random password. Length {0}. | Give me a strong password with length {0}. |
My password must have {0} characters. Make one. | My new password should be {0} characters long. |
The password should have {0} characters. | The password needs {0} characters. Generate it. |
The site wants a password with {0} characters. | They want a new password of {0} characters. Create one. |
Invent a password of length {0}. | Invent a safe password with {0} characters. |
Think of a password with {0} characters. | Pick a random password of {0} characters. |
Pick a password for me, {0} characters. | New password, {0} characters, please. |
New password of length {0}, please. | A password with {0} characters, please. |
A safe password of length {0}, please. | A {0} character password, please. | Password of {0} characters |
Password, length {0} | Random password: {0} characters | With {0} characters, make a strong password. |
Would you generate a {0} character password? | Let me have a new password with {0} characters. |
Set up a password of {0} characters for me. | My login needs a secret with {0} characters. |
I register somewhere. Password with {0} characters, please. | Invent a password of {0} letters. |
Think up a password, {0} characters long. | A secure secret of {0} characters. |
Something nobody guesses, {0} characters: a password | Give me a login password, length {0}. |
Passphrase with {0} characters, please. | Secret key for my account, {0} characters. |
Come up with a password of {0} characters. | Suggest a password that has {0} characters. |
I forgot my password. Make one with {0} characters. | Password length {0}, random. |
Let me have a password that is {0} long. | For my email account: a password with {0} characters |
The site wants a password of {0} signs. Create one. | {0} random characters as a password. |
A fresh password, {0} characters. | Produce a password having {0} characters. |
Build me a password from {0} characters. | Mix up a password of {0} characters. |
Wifi password of {0} characters, please. | Randomise a password of {0} characters. |
Make the new password {0} characters long. | Lock my account with a password of {0} characters. |
A hard password, {0} characters. | I want a code word of {0} characters for my login. |
Time for a new login secret, {0} characters. | Generate login credentials: password, {0} characters |
Compose a password: {0} characters | The login requires a {0} character password. | pwd length {0} |
I wish to have a secure password, {0} characters. | yo make me a {0} char pw | gen password len {0} |
Using {0} characters, compose a password. | Whip up a {0} character password. | secure password {0} |
Suggest a secure password, {0} characters long. |
Because I'm registering somewhere, I need a {0} character password. |
Choose a secure password for me, {0} characters. | Write me a password that is {0} characters long. |
Assemble a password from {0} random characters. | Password generator: {0} characters |
Supply a random login password, {0} chars. | Construct an uncrackable password using {0} characters. |
Can I get a secure password of {0} characters? | To be safe online, I want a {0} character password. |
As I open a new account, suggest a password, length {0}. | Replace my old password by one with {0} characters."""),
    (Outcome(("password", "secret", "value", "result"), words.syllables, "{}"),),
    "Your new password is {o}.",
)

FLIP_COIN = Concept(
    phrases("""flip_coin | coin | coin_flip | toss_coin | flipCoin | flip | toss | coin_toss | throw_coin |
flip_a_coin | heads_or_tails | tossCoin | coinFlip | coin_throw | toss_a_coin | get_coin | coin_side |
coinToss | flip_one | heads_tails | penny_flip | coin_decider | toss_penny | spin_coin | coinFlipper |
head_or_tail | random_side | flip_penny | choose_side | two_sided_toss | headsOrTails | fifty_fifty |
coin_decision | perform_toss | simulate_coin | tossUp | binary_chance | chuck_coin | do_coin_flip | coin_call |
heads_or_tails_game | launch_coin | coinDecider | flip_quarter | virtual_coin | run_coin_toss | pick_side"""),
    phrases("""Flip a coin. | Heads or tails | Tosses a coin. | Coin flip | Flips a coin. |
Throws a coin: heads or tails. | Toss a coin | Coin toss. | Returns heads or tails. | Gives heads or tails. |
Shows one side of a coin. | Throw a coin | Flips a coin for you. | Which side the coin shows. |
Heads or tails at random. | Use this to flip a coin."""),
    (),
    phrases("""Flip a coin. | Toss a coin. | Throw a coin. | Heads or tails? | Can you flip a coin? |
Can you toss a coin for me? | Could you throw a coin? | Could you flip a coin for us? | flip a coin |
heads or tails | coin flip | toss coin | I need a coin flip. | I need a coin toss. | I need heads or tails. |
I want to flip a coin. | I want you to toss a coin. | I'd like you to throw a coin. | I'd like a coin flip. |
I can't decide. Flip a coin. | I can't decide. Heads or tails? | We can't decide. Toss a coin. |
We need a coin toss. | We let a coin decide. Throw it. | Let a coin decide. |
Let a coin decide for us: heads or tails? | Let's flip a coin. | Let's toss a coin. | Let us throw a coin. |
Let the coin fly. | Do a coin flip. | Do a coin toss. | Make a coin flip for me. | Give me heads or tails. |
Tell me heads or tails. | Take a coin and flip it. | Take a coin and throw it. | Use a coin: heads or tails? |
Which side does the coin show? | Which side of the coin is up? Flip it. |
What does the coin say, heads or tails? | What will the coin show? Toss it. | A coin flip, please. |
A coin toss, please. | Coin toss! | Coin: heads or tails | Is it heads or is it tails? |
Would you flip a coin? | Would you toss the coin? | The coin decides. Flip it. |
The coin decides: heads or tails. | Time to toss a coin. | I cannot decide. Throw a coin. | Spin a coin. |
Heads or tails, you decide by coin. | Coin, please: heads or tails? | Let us settle it with a coin. |
Throw the penny. | Flip a penny for me. | Do the coin thing: heads or tails. | Which side does the coin land on? |
Give the coin a flip. | Who starts? Toss a coin. | We need a coin to decide. | Heads I win. Flip it. |
Call it in the air: flip! | Chuck a coin. | Make a coin toss for the match. | Let the coin fall. |
Leave it to a coin. | Coin toss for the kick-off, please. | Try a coin: heads or tails? |
Would you throw a coin? | A penny decides. Flip it. | Head or tail? Flip and tell me. | Have a coin flipped. |
Up goes the coin. What is it? | The coin decides who pays. | Show me the result of a coin flip. |
Settle our bet: flip a coin | Can we flip a coin on it? | Launch a coin into the air. | How does the coin land? |
Heads we win, tails we lose. Toss it. | My head is undecided, so flip a coin. | Call the coin toss. |
heads / tails | Give me a coin toss. | Give us heads or tails. | Head or tail? | Show me how the coin lands. |
Toss up a coin for us. | Since both choices seem fine, toss a coin. | Coin flip to see who starts. |
Pick heads or tails at random. | Flip a penny. | How about a coin toss? | Will it be heads or tails? |
Flip it: heads or tails? | flip coin asap | gimme heads or tails | There are two options. Let the coin choose."""),
    (Outcome(("side", "coin", "result", "flip", "shows"), lambda s: s.any(("heads", "tails")), "{}"),),
    "The coin shows {o}.",
)
