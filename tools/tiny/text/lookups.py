"""Everyday tools that find something out: the words they are asked for in, and what comes back."""

from tools.tiny.text.catalogue import Concept
from tools.tiny.text.lookups_numbers import ADD, CALCULATE, CURRENCY, MULTIPLY, SUBTRACT
from tools.tiny.text.lookups_people import BIRTHDAY, CONTACT, USER
from tools.tiny.text.lookups_places import CAPITAL, LOCAL_TIME, POPULATION, SUNSET, TRAFFIC, WEATHER
from tools.tiny.text.lookups_shops import CALORIES, OPENING_HOURS, ORDER, PRICE, STOCK, STOCK_PRICE
from tools.tiny.text.lookups_texts import DEFINE, READ_FILE, SEARCH, TRANSLATE
from tools.tiny.text.lookups_travel import DISTANCE, TRAIN

# `tool_use` takes the first seven by their place; new ones go to the end.
LOOKUPS: tuple[Concept, ...] = (
    WEATHER,
    LOCAL_TIME,
    ADD,
    MULTIPLY,
    SUBTRACT,
    CALCULATE,
    SEARCH,
    TRANSLATE,
    CURRENCY,
    STOCK_PRICE,
    ORDER,
    PRICE,
    STOCK,
    CONTACT,
    READ_FILE,
    CAPITAL,
    DISTANCE,
    USER,
    DEFINE,
    TRAIN,
    TRAFFIC,
    SUNSET,
    OPENING_HOURS,
    CALORIES,
    BIRTHDAY,
    POPULATION,
)
