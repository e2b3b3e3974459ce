"""Everyday tools that do something: the words they are asked for in, and what comes back."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import (
    Concept,
    Field,
    Outcome,
    amount,
    listing,
    number,
    pick,
    switch,
    text,
)
from tools.tiny.text.lookups import COUNT, DAY, FOOD, PERSON, RESULT, TASK, TIME
from tools.tiny.text.source import phrases

ACTIONS: tuple[Concept, ...] = (
    Concept(
        ("send_email", "email", "mail", "send_mail", "sendEmail", "compose_email", "email_send"),
        phrases("""Send an email. | Sends a mail | Send a message by email. | Email somebody | Mail a text. |
Sends an email."""),
        (
            Field(("to", "recipient", "address", "email", "receiver", "mail_to"), "string", text(words.email)),
            Field(("body", "text", "message", "content", "subject"), "string", text(pick(words.ACTIVITIES))),
        ),
        phrases("""Send an email to {0}: {1} | Email {0} and say: {1} | Write to {0}: {1} |
Mail {0} this: {1} | Send {0} an email that says: {1} | Please email {0}: {1} |
Send a mail to {0} with the text: {1} | Tell {0} by email: {1}"""),
        (Outcome(("status", "state", "sent"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
        "The email to {0} is {o}.",
    ),
    Concept(
        phrases("""send_message | message | text_contact | sms | send_sms | notify | sendMessage |
chat_send"""),
        phrases("""Send a message to a person. | Text somebody | Sends a text message. | Message a contact |
Send a text. | Sends a note to a contact."""),
        (PERSON, TASK),
        phrases("""Send {0} a message: {1} | Text {0}: {1} | Message {0}: {1} | Tell {0}: {1} |
Write {0} this: {1} | Send this to {0}: {1} | Let {0} know: {1} | Please tell {0} this: {1}"""),
        (Outcome(("status", "state", "delivery"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
        "The message to {0} is {o}.",
    ),
    Concept(
        phrases("""create_reminder | remind | set_reminder | add_reminder | reminder | remind_me |
createReminder"""),
        phrases("""Create a reminder. | Set a reminder | Reminds the user. | Add a reminder at a time |
Sets a reminder. | Remember a task."""),
        (TASK, TIME),
        phrases("""Remind me to {0} at {1}. | Set a reminder to {0} at {1}. | At {1}, remind me to {0}. |
I must {0} at {1}. Remind me. | Please remind me at {1} to {0}. | Reminder: {0}, {1} |
Do not let me forget to {0} at {1}. | Add a reminder for {1}: {0}"""),
        (Outcome(("status", "state", "saved"), lambda s: s.any(("set", "ok", "saved", "created")), "{}"),),
        "The reminder to {0} at {1} is {o}.",
    ),
    Concept(
        ("set_alarm", "alarm", "wake_me", "create_alarm", "add_alarm", "alarm_clock", "setAlarm"),
        phrases("""Set an alarm. | Alarm clock | Sets an alarm at a time. | Wake the user |
Create an alarm. | Wakes you up."""),
        (TIME,),
        phrases("""Set an alarm for {0}. | Wake me at {0}. | Alarm at {0}. | Please wake me up at {0}. |
I must get up at {0}. | Set the alarm to {0}. | Can you wake me at {0}? | I need an alarm at {0}."""),
        (Outcome(("status", "state", "alarm"), lambda s: s.any(("set", "ok", "on", "active")), "{}"),),
        "The alarm at {0} is {o}.",
    ),
    Concept(
        ("set_timer", "timer", "start_timer", "countdown", "egg_timer", "startTimer"),
        phrases("""Start a timer. | Countdown timer | Starts a timer. | Timer in minutes | Sets a timer. |
A kitchen timer."""),
        (Field(("minutes", "duration", "length", "min", "duration_minutes"), "integer", number(1, 90)),),
        phrases("""Set a timer for {0} minutes. | Start a timer of {0} minutes. | Timer: {0} minutes |
{0} minutes, please. | Count down {0} minutes. | Please start a {0} minute timer. |
Tell me when {0} minutes are over. | I need a timer for {0} minutes."""),
        (Outcome(("status", "state", "timer"), lambda s: s.any(("running", "ok", "started", "set")), "{}"),),
        "The timer of {0} minutes is {o}.",
    ),
    Concept(
        phrases("""set_temperature | thermostat | set_thermostat | heat | heating | set_room_temperature"""),
        phrases("""Set the temperature of a room. | Thermostat | Controls the heating. | Heat a room |
Room temperature. | Sets the thermostat."""),
        (
            Field(("room", "place", "zone", "where"), "string", text(pick(words.PLACES))),
            Field(("degrees", "temperature", "target", "celsius", "value"), "integer", number(10, 30)),
        ),
        phrases("""Set the {0} to {1} degrees. | Heat the {0} to {1} degrees. | Make the {0} {1} degrees. |
Please set the temperature in the {0} to {1}. | {0}: {1} degrees | Turn the {0} heating to {1} degrees. |
I want {1} degrees in the {0}. | Bring the {0} to {1} degrees."""),
        (Outcome(("status", "state", "heating"), lambda s: s.any(("set", "ok", "on", "done")), "{}"),),
        "The {0} is {o} at {1} degrees.",
    ),
    Concept(
        phrases("""set_light | light | lights | switch_light | toggle_light | lamp | setLight |
control_lights"""),
        phrases("""Switch a light. | Light switch | Turns a light on or off. | Controls the lights |
Lights. | Switch lights in a room."""),
        (
            Field(("room", "place", "where", "zone"), "string", text(pick(words.PLACES))),
            Field(("on", "state", "active", "enabled", "power"), "boolean", switch("on", "off")),
        ),
        phrases("""Turn {1} the light in the {0}. | Switch {1} the {0} light. | {0} light {1}, please. |
Turn the {0} light {1}. | Light {1} in the {0}. | Please turn the light in the {0} {1}. |
I want the {0} light {1}. | Lights {1} in the {0}."""),
        (Outcome(("status", "state", "light"), lambda s: s.any(("done", "ok", "changed")), "{}"),),
        "The {0} light is {1}: {o}.",
    ),
    Concept(
        ("play_music", "play", "play_song", "music", "player", "start_music", "playMusic"),
        phrases("""Play music. | Music player | Plays a song. | Play a song by name | Starts the music. |
Plays something."""),
        (Field(("song", "title", "track", "query", "name"), "string", text(words.phrase)),),
        phrases("""Play {0}. | Play the song {0}. | Put on {0}. | I want to hear {0}. | Start the song {0}. |
Please play {0}. | Can you play {0}? | Let me hear {0}."""),
        (Outcome(("status", "state", "player"), lambda s: s.any(("playing", "ok", "started")), "{}"),),
        "{0} is {o}.",
    ),
    Concept(
        ("book_flight", "flight", "find_flight", "search_flights", "flights", "bookFlight"),
        phrases("""Find a flight. | Flight search | Books a flight between cities. | Search flights |
Flights. | Flies you somewhere."""),
        (
            Field(("from", "origin", "departure", "from_city", "start"), "string", text(words.city)),
            Field(("to", "destination", "arrival", "to_city", "target"), "string", text(words.city)),
            Field(("date", "day", "on", "when"), "string", text(words.date)),
        ),
        phrases("""Find a flight from {0} to {1} on {2}. | Book a flight from {0} to {1} on {2}. |
I want to fly from {0} to {1} on {2}. | Flights from {0} to {1}, {2} | On {2} I fly from {0} to {1}. |
Fly me from {0} to {1} on {2}. | I need a flight to {1} from {0} on {2}. |
Is there a flight from {0} to {1} on {2}?"""),
        (
            Outcome(("flight", "number", "code"), words.identifier, "flight {}"),
            Outcome(("price", "cost", "fare"), amount(30, 999), "price {}"),
        ),
        "From {0} to {1}: {o}.",
    ),
    Concept(
        phrases("""create_event | add_event | calendar | schedule | new_event | book_meeting | createEvent"""),
        phrases("""Add a calendar event. | Calendar | Creates an event. | Schedule something |
Put it in the calendar. | New calendar entry."""),
        (Field(("title", "event", "name", "what", "subject"), "string", text(pick(words.EVENTS))), DAY, TIME),
        phrases("""Schedule a {0} on {1} at {2}. | Add a {0} on {1} at {2}. |
Put a {0} in my calendar on {1} at {2}. | I have a {0} on {1} at {2}. | Plan a {0} for {1} at {2}. |
Create an event: {0}, {1}, {2} | Book a {0} on {1} at {2}. | On {1} at {2} there is a {0}. Note it."""),
        (Outcome(("status", "state", "event"), lambda s: s.any(("created", "ok", "saved", "booked")), "{}"),),
        "The {0} on {1} at {2} is {o}.",
    ),
    Concept(
        ("order_food", "add_to_cart", "buy", "order_item", "cart_add", "shop", "addToCart"),
        phrases("""Order food. | Shop | Adds food to the cart. | Buy something | Puts items in the cart. |
Order items."""),
        (FOOD, COUNT),
        phrases("""Order {1} {0}. | Buy {1} of {0}. | Add {1} {0} to the cart. | I want {1} {0}. |
Put {1} {0} in my cart. | Please order {1} of the {0}. | Get me {1} {0}. | {1} x {0}, please."""),
        (Outcome(("status", "state", "cart"), lambda s: s.any(("added", "ok", "ordered")), "{}"),),
        "{1} {0}: {o}.",
    ),
    Concept(
        ("save_note", "write_note", "note", "take_note", "add_note", "memo", "saveNote"),
        phrases("""Save a note. | Notes | Writes a note. | Keep a text | Takes a note. | Remembers a text."""),
        (Field(("text", "note", "content", "body", "message"), "string", text(words.phrase)),),
        phrases("""Note: {0} | Save a note: {0} | Write down: {0} | Take a note: {0} |
Please note this: {0} | Keep this: {0} | Make a note that says {0} | Jot down {0}"""),
        (Outcome(("status", "state", "note"), lambda s: s.any(("saved", "ok", "stored")), "{}"),),
        "The note is {o}.",
    ),
    Concept(
        ("add_tags", "tag", "label", "set_tags", "tag_item", "add_labels", "setTags"),
        phrases("""Add tags to an item. | Tagging | Sets the tags. | Label an item | Tags things. |
Attach labels."""),
        (
            Field(("id", "item", "code", "target", "key"), "string", text(words.identifier)),
            Field(("tags", "labels", "list", "values", "words"), "array", listing(pick(words.COMMON))),
        ),
        phrases("""Tag {0} with {1}. | Label {0} as {1}. | Add the tags {1} to {0}. | Put {1} on {0}. |
Give {0} the tags {1}. | Please tag {0}: {1} | Set the labels of {0} to {1}. | {0} gets the tags {1}."""),
        (Outcome(("status", "state", "tags"), lambda s: s.any(("done", "ok", "saved")), "{}"),),
        "The tags of {0}: {o}.",
    ),
    Concept(
        ("set_volume", "volume", "change_volume", "sound", "set_sound", "loudness"),
        phrases("""Set the volume. | Volume control | Changes the volume. | Make it louder or quieter |
Sound level. | Controls the sound."""),
        (Field(("level", "volume", "percent", "value"), "integer", number(0, 100)),),
        phrases("""Set the volume to {0}. | Volume {0}. | Turn the sound to {0} percent. |
Make the volume {0}. | Please set the sound to {0}. | I want volume {0}. | Change the volume to {0}. |
Sound level {0}, please."""),
        (Outcome(("status", "state", "volume"), lambda s: s.any(("set", "ok", "done")), "{}"),),
        "The volume is {o}: {0}.",
    ),
    Concept(
        ("roll_dice", "dice", "random_number", "roll", "throw_dice", "rollDice"),
        phrases("""Roll a die. | Dice | Returns a random number. | Throw a die | Random number. |
Rolls dice."""),
        (Field(("sides", "max", "faces", "n"), "integer", number(4, 100)),),
        phrases("""Roll a die with {0} sides. | Throw a {0} sided die. | Random number up to {0}. |
Roll a d{0}. | Give me a number from 1 to {0}. | Roll the dice, {0} sides. |
Pick a random number below {0}. | Please roll a {0} sided die."""),
        (Outcome(("roll", *RESULT), amount(1, 100), "{}"),),
        "You rolled {o}.",
    ),
)
