"""Everyday tools that find something out: the words they are asked for in, and what comes back."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import (
    Concept,
    Field,
    Outcome,
    amount,
    decimal,
    number,
    pick,
    price,
    text,
)
from tools.tiny.text.source import phrases

CITY = Field(("city", "location", "place", "town", "city_name", "where", "area"), "string", text(words.city))
PERSON = Field(("name", "person", "contact", "who", "recipient", "employee", "user"), "string", text(words.first_name))
QUERY = Field(("query", "q", "text", "term", "keywords", "search", "topic"), "string", text(words.phrase))
ITEM = Field(("item", "product", "article", "name", "goods", "object"), "string", text(pick(words.OBJECTS)))
FOOD = Field(("item", "product", "food", "ingredient", "name", "dish"), "string", text(pick(words.FOODS)))
CODE = Field(("id", "code", "number", "reference", "order_id", "key", "ident"), "string", text(words.identifier))
COUNT = Field(("count", "quantity", "amount", "n", "number", "how_many"), "integer", number(1, 99))
TIME = Field(("time", "at", "when", "start", "hour", "clock"), "string", text(words.clock))
DAY = Field(("day", "weekday", "on", "date"), "string", text(pick(words.WEEKDAYS)))
TASK = Field(("task", "text", "title", "note", "message", "content", "what"), "string", text(pick(words.ACTIVITIES)))
A = Field(("a", "x", "first", "left", "num1"), "number", decimal(0, 999))
B = Field(("b", "y", "second", "right", "num2"), "number", decimal(0, 999))
DEGREES = phrases("""temperature_c | temp_c | temperature | temp | celsius | degrees | temperature_celsius""")
SKY = phrases("""sky | conditions | condition | weather | summary | description | state | forecast""")
RESULT = ("result", "value", "answer", "output", "total", "out")

LOOKUPS: tuple[Concept, ...] = (
    Concept(
        phrases("""get_weather | weather | weather_lookup | current_weather | fetch_weather | check_weather |
getWeather | weather_now | get_current_weather | weather_in_city | local_weather | city_weather |
get_forecast | weather_report | show_weather | weatherLookup | get_weather_now | weather_info"""),
        phrases("""Get the weather of a city. | The weather in a city | Current weather for a place |
Returns the weather now. | Look up the weather. | Weather of a city. |
Get the current weather in a given city"""),
        (CITY,),
        phrases("""What is the weather in {0}? | How is the weather in {0}? |
What's the weather like in {0}? | Weather in {0}? | Tell me the weather in {0}. | Is it raining in {0}? |
Do I need an umbrella in {0}? | How warm is it in {0}? | What is the temperature in {0}? |
Is it cold in {0} today? | Check the weather in {0}. | What is the weather in {0} right now? |
Give me the weather for {0}. | Will I need a coat in {0}? | I am going to {0}. How is the weather there? |
How's the weather in {0}? | What is it like outside in {0}? | What is the weather today in {0}? |
Can you tell me the weather in {0}? | Is it sunny in {0}? |
How hot is it in {0}? | Is it windy in {0}? | Does it rain in {0}? | Does it snow in {0}? |
The weather in {0}, please. | Weather report for {0}. | Get me the weather of {0}. | I need the weather for {0}. |
What is the sky like in {0}? | Should I take a jacket to {0}? | {0} weather | Show the weather in {0}. |
How many degrees are there in {0}? | What is the forecast for {0}? | Look up the weather in {0}. |
Which weather do they have in {0}?"""),
        (
            Outcome(DEGREES, amount(-15, 40), "{} degrees"),
            Outcome(SKY, pick(words.SKIES), "{}"),
            Outcome(("wind_kmh", "wind", "wind_speed"), amount(0, 90), "wind {} km/h"),
            Outcome(("humidity", "humidity_percent"), amount(10, 99), "humidity {} percent"),
        ),
        "It is {o} in {0}.",
    ),
    Concept(
        phrases("""get_time | current_time | time_in | clock | local_time | getTime | world_clock |
fetch_time | get_local_time | time_lookup | what_time |
time | get_clock | show_time | timeIn | time_now | get_time_in_city"""),
        phrases("""Get the time in a city. | The local time of a city | Current time in a place |
Returns the local time. | Look up the time. | Tells the time. | Get the current local time"""),
        (CITY,),
        phrases("""What time is it in {0}? | What is the time in {0}? | Time in {0}? |
Tell me the time in {0}. | How late is it in {0}? | What is the local time in {0}? | Is it late in {0}? |
Current time in {0}? | Can you check the time in {0}? | What time is it now in {0}? |
Give me the time in {0}. | What does the clock say in {0}? |
I need the time in {0}. | Get me the local time of {0}. | Time now in {0}? | {0} time | Show the time in {0}. |
The time in {0}, please. | Which time do they have in {0}? | Look up the time in {0}. | What hour is it in {0}? |
How early is it in {0}? | Local time of {0}? | I want to call {0}. What time is it there? | Find the time in {0}."""),
        (Outcome(("time", "local_time", "now", "clock", "current_time"), words.clock, "{}"),),
        "It is {o} in {0}.",
    ),
    Concept(
        phrases("""add | sum | plus | add_numbers | sum_two | addition | calc_add | addNumbers | add_two | get_sum |
calculate_sum | add_values | sumNumbers | adder"""),
        phrases("""Add two numbers. | The sum of two numbers | Adds a and b. | Returns a + b | Addition |
Sum two numbers."""),
        (A, B),
        phrases("""What is {0} + {1}? | Add {0} and {1}. | {0} + {1} | What is {0} plus {1}? |
Sum {0} and {1}. | How much is {0} plus {1}? | Compute {0} + {1}. | Please add {0} and {1}. | {0} plus {1}? |
What is the sum of {0} and {1}? | Calculate {0} + {1}. |
{0} and {1} together? | Find {0} + {1}. | {0}+{1} | Give me {0} plus {1}. | The sum of {0} and {1}, please. |
What do {0} and {1} make? | Get {0} + {1}. | Total of {0} and {1}? | {0} added to {1}? | Do {0} + {1}. |
I need {0} plus {1}."""),
        (Outcome(("sum", *RESULT), amount(0, 1999), "{}"),),
        "{0} + {1} is {o}.",
    ),
    Concept(
        phrases("""multiply | times | product | mul | multiply_numbers | calc_multiply | multiplication |
get_product | multiply_two | multiplyNumbers | mult | calculate_product | multiplier"""),
        phrases("""Multiply two numbers. | The product of two numbers | Multiplies a and b. | Returns a * b |
Multiplication | Product of two numbers."""),
        (A, B),
        phrases("""What is {0} * {1}? | Multiply {0} by {1}. | {0} times {1} | What is {0} times {1}? |
{0} * {1} | How much is {0} times {1}? | Compute {0} * {1}. | Product of {0} and {1}? |
Multiply {0} and {1}. |
Calculate {0} * {1}. | {0} multiplied by {1}? | {0} x {1} | The product of {0} and {1}, please. |
Find {0} times {1}. | Give me {0} times {1}. | Get {0} * {1}. | {0}*{1} | What is {0} multiplied by {1}? |
I need {0} times {1}."""),
        (Outcome(("product", *RESULT), amount(0, 9999), "{}"),),
        "{0} * {1} is {o}.",
    ),
    Concept(
        phrases("""subtract | minus | difference | sub | subtract_numbers | calc_subtract | subtract_two |
get_difference | subtractNumbers | take_away | calculate_difference"""),
        phrases("""Subtract two numbers. | The difference of two numbers | Subtracts b from a. |
Returns a - b | Subtraction | Difference of two numbers."""),
        (A, B),
        phrases("""What is {0} - {1}? | {0} minus {1} | What is {0} minus {1}? | {0} - {1} |
How much is {0} minus {1}? | Compute {0} - {1}. | Difference of {0} and {1}? | Calculate {0} minus {1}. |
Calculate {0} - {1}. | {0} less {1}? | The difference of {0} and {1}, please. | Find {0} minus {1}. |
Give me {0} minus {1}. | Get {0} - {1}. | {0}-{1} | What remains of {0} after {1}? | I need {0} minus {1}. |
Do {0} - {1}."""),
        (Outcome(("difference", *RESULT), amount(-99, 999), "{}"),),
        "{0} - {1} is {o}.",
    ),
    Concept(
        phrases("""calculate | calculator | evaluate | eval_expression | math | compute | solve | calc | run_math |
do_math | math_eval | calculate_expression | evaluateMath"""),
        phrases("""Evaluate an expression. | A calculator | Computes an arithmetic expression. |
Evaluates math. | Calculator. | Does arithmetic."""),
        (
            Field(
                ("expression", "expr", "formula", "input", "calculation", "math"),
                "string",
                text(lambda s: f"{s.integer(1, 999)} {s.any(('+', '-', '*', '/'))} {s.integer(1, 999)}"),
            ),
        ),
        phrases("""What is {0}? | Calculate {0}. | {0} = ? | Compute {0}. | How much is {0}? |
Evaluate {0}. | Work out {0}. | Please compute {0} | {0} |
Solve {0} | Result of {0}? | Find {0}. | What does {0} give? | The value of {0}? | Get {0}. | Do the math: {0} |
Tell me {0}. | I need {0}. | Run the calculation {0}"""),
        (Outcome(RESULT, amount(-99, 9999), "{}"),),
        "{0} = {o}.",
    ),
    Concept(
        phrases("""search | web_search | search_web | find | lookup | google | query_web | internet_search |
searchWeb |
search_internet | web_lookup | find_pages | search_engine | webSearch | do_search | query | find_web"""),
        phrases("""Search the web. | Web search | Searches the internet. | Find pages about something |
Search for a text. | Looks something up."""),
        (QUERY,),
        phrases("""Search for {0}. | Search the web for {0}. | Find pages about {0}. | Look up {0}. |
Google {0}. | Search {0} | Find something about {0}. | What does the web say about {0}? |
Look for {0} online. | Please search for {0}. |
Web search: {0} | Do a search for {0}. | I want to read about {0}. | Get pages on {0}. |
What is on the web about {0}? | Search: {0} | Show results for {0}. | Query: {0} | I need information about {0}. |
Look on the internet for {0}. | Find {0} on the web."""),
        (Outcome(("title", "top", "first", "page", "hit"), words.phrase, "{}"),),
        "I found: {o}.",
    ),
    Concept(
        phrases("""translate | translate_text | translator | to_language | translation | translateText |
translate_to | get_translation | translate_phrase | language_translate | make_translation"""),
        phrases("""Translate a text. | Translator | Translates text to a language. |
Turn text into another language | Translation. | Says it in another language."""),
        (
            Field(("text", "sentence", "input", "phrase", "source"), "string", text(words.phrase)),
            Field(("language", "target", "to", "lang", "target_language"), "string", text(pick(words.LANGUAGES))),
        ),
        phrases("""Translate {0} to {1}. | How do you say {0} in {1}? | What is {0} in {1}? |
Translate into {1}: {0} | Say {0} in {1}. | Please translate {0} into {1}. | {0} in {1}, please. |
I need {0} in {1}. |
Translation of {0} to {1}? | Give me {0} in {1}. | Tell me the {1} for {0}. | {1} for {0}? | Put {0} into {1}. |
What does {0} mean in {1}? | To {1}: {0} | How would you write {0} in {1}? | Write {0} in {1}. | Make {0} {1}."""),
        (Outcome(("translation", "text", *RESULT), words.syllables, "{}"),),
        "In {1} it is: {o}.",
    ),
    Concept(
        phrases("""convert_currency | exchange | currency | convert_money | fx_convert | convertCurrency |
change_money | currency_convert | exchange_money | money_exchange | currency_exchange | convert"""),
        phrases("""Convert money. | Currency conversion | Converts an amount between currencies. |
Exchange money | Currency converter. | Change one currency to another."""),
        (
            Field(("amount", "value", "sum", "money"), "number", decimal(1, 999)),
            Field(("from", "from_currency", "source", "base"), "string", text(pick(words.CURRENCIES))),
            Field(("to", "to_currency", "target", "quote"), "string", text(pick(words.CURRENCIES))),
        ),
        phrases("""Convert {0} {1} to {2}. | How much is {0} {1} in {2}? | {0} {1} in {2}? |
Change {0} {1} into {2}. | What are {0} {1} in {2}? | Exchange {0} {1} for {2}. |
I have {0} {1}. What is that in {2}? | Turn {0} {1} into {2}. |
{0} {1} are how many {2}? | I want {2} for {0} {1}. | Swap {0} {1} to {2}. | Value of {0} {1} in {2}? |
How many {2} do I get for {0} {1}? | Give me {0} {1} in {2}. | {0} {1} to {2} | What is {0} {1} worth in {2}? |
Make {2} of {0} {1}."""),
        (Outcome(("converted", "amount", *RESULT), price, "{}"),),
        "{0} {1} are {o} {2}.",
    ),
    Concept(
        phrases("""stock_price | get_stock | quote | share_price | get_stock_price | ticker | stockPrice |
get_quote | share | get_share_price | stock_quote | stock_lookup | check_share"""),
        phrases("""Get a stock price. | Price of a share | Returns the price of a stock. | Stock quote |
Share prices. | Looks up a stock."""),
        (
            Field(
                ("symbol", "ticker", "stock", "share", "company"),
                "string",
                text(
                    lambda s: s.fresh(
                        lambda: "".join(s.any("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(s.integer(2, 4)))
                    )
                ),
            ),
        ),
        phrases("""What is the price of {0}? | Stock price of {0}? | How is {0} trading? | Quote for {0}. |
Price of {0} stock? | How much is a share of {0}? | Check the stock {0}. | What does {0} cost now? |
Show me the stock {0}. | Get the price of {0}. | Is {0} up or down? | The quote of {0}, please. |
Share price of {0}? | Tell me the price of {0} shares. | {0} stock | Where does {0} stand? | Look up the {0} share. |
I own {0}. What is it worth?"""),
        (Outcome(("price", "last", "value", "close", "usd"), price, "{}"),),
        "{0} is at {o}.",
    ),
    Concept(
        phrases("""get_order | order_status | track_order | order | track | find_order | orderStatus |
order_info | get_order_status | check_order | show_order | lookup_order | trackOrder"""),
        phrases("""Get the status of an order. | Order tracking | Tracks an order. | Where is an order |
Order status. | Looks up an order."""),
        (CODE,),
        phrases("""Where is my order {0}? | Track order {0}. | What is the status of order {0}? |
Order {0}? | Has order {0} been sent? | Check order {0}. | I am waiting for order {0}. |
Look up the order {0}. |
When does order {0} come? | Status of {0}? | Find order {0}. | Did you send order {0}? | Show order {0}. |
Tell me about order {0}. | What about my order {0}? | How far is order {0}? | Get the status of order {0}. |
My order is {0}. Where is it?"""),
        (
            Outcome(
                ("status", "state", "order"),
                lambda s: s.any(("shipped", "packed", "delivered", "lost", "on the way")),
                "{}",
            ),
            Outcome(("eta", "arrives", "date"), words.date, "arrival {}"),
        ),
        "Order {0}: {o}.",
    ),
    Concept(
        phrases("""get_price | price | price_of | product_price | cost | lookup_price | getPrice | find_price |
check_price | get_product_price | item_price | price_lookup | show_price"""),
        phrases("""Get the price of a product. | Product prices | Returns the price. | What something costs |
Prices. | Looks up a price."""),
        (ITEM,),
        phrases("""How much is a {0}? | What does a {0} cost? | Price of a {0}? |
What is the price of the {0}? | How expensive is a {0}? | Tell me the price of a {0}. |
Check the price of the {0}. | I want a {0}. What is its price? |
Get the price of a {0}. | Is a {0} expensive? | What do you want for a {0}? | The price of a {0}, please. |
Look up the price of a {0}. | How many euros is a {0}? | What do I pay for a {0}? | Show me the price of the {0}. |
Cost of a {0}?"""),
        (Outcome(("price", "cost", "amount", "eur", "value"), price, "{}"),),
        "The {0} costs {o}.",
    ),
    Concept(
        phrases("""check_stock | stock | inventory | in_stock | get_inventory | warehouse | checkStock |
get_stock_level | stock_level | count_stock | stock_count | find_stock | item_stock"""),
        phrases("""Check the stock of a product. | Inventory | How many are in stock. | Stock level |
Counts a product. | Warehouse stock."""),
        (ITEM,),
        phrases("""How many {0}s are in stock? | Is the {0} in stock? | Stock of {0}? | Do we have a {0}? |
Check the stock of {0}. | How many of the {0} are left? | Is there a {0} in the warehouse? |
Count the {0} stock. |
How much stock of {0}? | Is there any {0} left? | Can I still get a {0}? | Look up the stock of {0}. |
What is the stock of {0}? | Number of {0} in stock? | Do you have the {0} in stock? | {0} in stock? |
Show the stock of {0}. | Are there enough {0}s?"""),
        (Outcome(("count", "stock", "quantity", "left", "units"), amount(0, 500), "{}"),),
        "There are {o} in stock: {0}.",
    ),
    Concept(
        phrases("""find_contact | get_phone | phone_book | contact | lookup_phone | phone_number | getPhone |
phone | get_number | find_number | get_contact | contact_lookup | phone_lookup"""),
        phrases("""Get a phone number. | Phone book | Finds the number of a person. | Contact data |
Phone numbers. | Looks up a contact."""),
        (PERSON,),
        phrases("""What is the phone number of {0}? | Find the number of {0}. | Phone of {0}? |
How can I call {0}? | Look up {0} in the phone book. | I need {0}'s number. | Give me the number of {0}. |
Do you have the number of {0}? |
I want to call {0}. | What number has {0}? | Which number does {0} have? | Get the phone number of {0}. |
Number of {0}? | Tell me the phone number of {0}. | I have to phone {0}. | Show me the number of {0}. |
How do I reach {0} by phone? | The number of {0}, please."""),
        (Outcome(("phone", "number", "tel", "mobile"), lambda s: str(s.integer(100000, 999999)), "{}"),),
        "The number of {0} is {o}.",
    ),
    Concept(
        phrases("""read_file | open_file | cat | file_read | load_file | get_file | readFile | file_open | show_file |
view_file | file_contents | get_text | read_text"""),
        phrases("""Read a file. | File contents | Returns the text of a file. | Open a file | Reads text. |
Loads a file."""),
        (
            Field(
                ("path", "file", "filename", "name", "file_path"),
                "string",
                text(lambda s: f"{s.one(words.COMMON)}.{s.any(('txt', 'md', 'csv', 'json', 'py', 'log'))}"),
            ),
        ),
        phrases("""Read {0}. | Open the file {0}. | What is in {0}? | Show me {0}. | Load {0}. |
Print the file {0}. | What does {0} say? | Please read the file {0}. |
Show the contents of {0}. | Get the text of {0}. | Give me the file {0}. | What does the file {0} contain? |
What is written in {0}? | I want to see {0}. | View {0}. | Read out {0}. | Tell me what {0} says. | Open {0}."""),
        (Outcome(("text", "content", "data", "contents"), words.phrase, "{}"),),
        "The file {0} says: {o}",
    ),
    Concept(
        phrases("""get_capital | capital | capital_of | country_capital | lookup_capital | find_capital |
get_capital_city | capital_city | capital_lookup | show_capital | getCapital | which_capital"""),
        phrases("""Get the capital of a country. | Capitals | Returns a capital. | Capital city |
Looks up capitals. | The capital of a country."""),
        (Field(("country", "nation", "name", "land", "state"), "string", text(pick(words.COUNTRIES))),),
        phrases("""Look up the capital of {0}. | What is the capital of {0}? | Capital of {0}? |
Which city is the capital of {0}? | Tell me the capital of {0}. | Name the capital of {0}. |
Find the capital of {0}. | Get me the capital of {0}. |
Capital city of {0}? | Give me the capital of {0}. | Show the capital of {0}. | What is the capital city of {0}? |
{0} has which capital? | I need the capital of {0}. | Where is the capital of {0}? | Check the capital of {0}."""),
        (Outcome(("capital", "city", *RESULT), words.city, "{}"),),
        "The capital of {0} is {o}.",
    ),
    Concept(
        phrases("""distance | get_distance | find_route | distance_between | how_far | road_distance |
measure_distance | route_length | city_distance | getDistance | route | distance_lookup | trip_length |
drive_distance"""),
        phrases("""Distance between two cities. | Route length | Returns the distance. | How far it is |
Distances. | Measures a route."""),
        (
            Field(("from", "start", "origin", "a"), "string", text(words.city)),
            Field(("to", "end", "destination", "b"), "string", text(words.city)),
        ),
        phrases("""How far is it from {0} to {1}? | Distance from {0} to {1}? |
How long is the way from {0} to {1}? | What is the distance between {0} and {1}? |
Is it far from {0} to {1}? | Route from {0} to {1}. | How many kilometres from {0} to {1}? |
Measure the way from {0} to {1}. |
How many km from {0} to {1}? | Find the way from {0} to {1}. | What is the way from {0} to {1}? |
How far apart are {0} and {1}? | I drive from {0} to {1}. How far is it? | Show the route from {0} to {1}. |
From {0} to {1}, how far? | Get the distance from {0} to {1}. | Tell me how far {1} is from {0}. |
Way from {0} to {1}?"""),
        (Outcome(("km", "distance_km", "distance", "kilometres"), amount(10, 9999), "{} km"),),
        "From {0} to {1} it is {o}.",
    ),
    Concept(
        phrases("""get_user | user_info | find_user | user | lookup_user | get_profile | getUser | show_user |
user_lookup | user_profile | read_user | user_data | profile"""),
        phrases("""Get a user. | User data | Returns a user's profile. | Find a user | Users. |
Looks up a user."""),
        (Field(("user_id", "id", "uid", "number", "key"), "integer", number(1, 9999)),),
        phrases("""Who is user {0}? | Get user {0}. | Show the user with id {0}. | Look up user {0}. |
Find user number {0}. | Tell me about user {0}. | Which user has the id {0}? | User {0}, please. |
Show user {0}. | What do we know about user {0}? | Find the user with id {0}. | Data of user {0}? |
Get the profile of user {0}. | Open the profile of user {0}. | Which user is {0}? | Name of user {0}? |
I need user {0}."""),
        (
            Outcome(("name", "user", "full_name"), words.full_name, "{}"),
            Outcome(("city", "town", "place"), words.city, "{}"),
        ),
        "User {0}: {o}.",
    ),
)
