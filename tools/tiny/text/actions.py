"""Everyday tools that do something, in the order in which they are chosen from."""

from tools.tiny.text.calendar_tools import BOOK_TABLE, CALL_TAXI, CREATE_EVENT, CREATE_REMINDER, SET_ALARM, SET_TIMER
from tools.tiny.text.catalogue import Concept
from tools.tiny.text.chance_tools import FLIP_COIN, MAKE_PASSWORD, ROLL_DICE
from tools.tiny.text.errand_tools import BOOK_FLIGHT, LOG_EXPENSE, ORDER_FOOD, SEND_MONEY
from tools.tiny.text.home_tools import LOCK_DOOR, PLAY_MUSIC, SET_LIGHT, SET_TEMPERATURE, SET_VOLUME, VACUUM_ROOM
from tools.tiny.text.message_tools import ADD_TAGS, PRINT_FILE, SAVE_CONTACT, SAVE_NOTE, SEND_EMAIL, SEND_MESSAGE

ACTIONS: tuple[Concept, ...] = (
    SEND_EMAIL,
    SEND_MESSAGE,
    CREATE_REMINDER,
    SET_ALARM,
    SET_TIMER,
    SET_TEMPERATURE,
    SET_LIGHT,
    PLAY_MUSIC,
    BOOK_FLIGHT,
    CREATE_EVENT,
    ORDER_FOOD,
    SAVE_NOTE,
    ADD_TAGS,
    SET_VOLUME,
    ROLL_DICE,
    LOCK_DOOR,
    VACUUM_ROOM,
    BOOK_TABLE,
    CALL_TAXI,
    SAVE_CONTACT,
    SEND_MONEY,
    LOG_EXPENSE,
    PRINT_FILE,
    MAKE_PASSWORD,
    FLIP_COIN,
)
