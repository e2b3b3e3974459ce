"""Parameters and result keys that several everyday tools share."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Field, decimal, number, pick, text
from tools.tiny.text.source import phrases

SHOPS = phrases("""bakery | library | museum | market | bank | pharmacy | post office | supermarket | swimming pool |
zoo | cinema | gym | town hall | bookshop | butcher | hairdresser | gallery | cafe | petrol station | flower shop |
toy shop | dentist | theatre | castle | garage | pet shop | fish market | ice rink | tourist office | shoe shop""")

CITY = Field(
    ("city", "location", "place", "town", "city_name", "where", "area", "locality", "loc", "place_name"),
    "string",
    text(words.city),
)
PERSON = Field(
    ("name", "person", "contact", "who", "recipient", "employee", "user", "first_name", "person_name", "contact_name"),
    "string",
    text(words.first_name),
)
QUERY = Field(
    ("query", "q", "text", "term", "keywords", "search", "topic", "search_query", "search_term", "words", "keyword"),
    "string",
    text(words.phrase),
)
ITEM = Field(
    ("item", "product", "article", "name", "goods", "object", "product_name", "item_name", "thing"),
    "string",
    text(pick(words.OBJECTS)),
)
FOOD = Field(
    ("item", "product", "food", "ingredient", "name", "dish", "food_name", "meal"), "string", text(pick(words.FOODS))
)
CODE = Field(
    ("id", "code", "number", "reference", "order_id", "key", "ident", "order_number", "order", "order_code", "ref"),
    "string",
    text(words.identifier),
)
COUNT = Field(
    ("count", "quantity", "amount", "n", "number", "how_many", "units", "pieces", "qty"), "integer", number(1, 99)
)
TIME = Field(("time", "at", "when", "start", "hour", "clock", "time_of_day", "clock_time"), "string", text(words.clock))
DAY = Field(("day", "weekday", "on", "date", "day_of_week", "week_day"), "string", text(pick(words.WEEKDAYS)))
TASK = Field(
    ("task", "text", "title", "note", "message", "content", "what", "body", "description"),
    "string",
    text(words.activity),
)
A = Field(
    ("a", "x", "first", "left", "num1", "number1", "n1", "first_number", "value1", "op1"), "number", decimal(0, 999)
)
B = Field(
    ("b", "y", "second", "right", "num2", "number2", "n2", "second_number", "value2", "op2"), "number", decimal(0, 999)
)
DEGREES = phrases("""temperature_c | temp_c | temperature | temp | celsius | degrees | temperature_celsius""")
SKY = phrases("""sky | conditions | condition | weather | summary | description | state | forecast""")
RESULT = ("result", "value", "answer", "output", "total", "out")
