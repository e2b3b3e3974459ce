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
        phrases("""send_email | email | mail | send_mail | sendEmail | compose_email | email_send | new_email |
write_email | mail_send | email_to | deliver_email | write_mail"""),
        phrases("""Send an email. | Sends a mail | Send a message by email. | Email somebody | Mail a text. |
Sends an email."""),
        (
            Field(("to", "recipient", "address", "email", "receiver", "mail_to"), "string", text(words.email)),
            Field(("body", "text", "message", "content", "subject"), "string", text(pick(words.ACTIVITIES))),
        ),
        phrases("""Send an email to {0}: {1} | Email {0} and say: {1} | Write to {0}: {1} |
Mail {0} this: {1} | Send {0} an email that says: {1} | Please email {0}: {1} |
Send a mail to {0} with the text: {1} | Tell {0} by email: {1} |
Email to {0}: {1} | Let {0} know by mail: {1} | Compose an email to {0}: {1} | Drop {0} a mail: {1} |
New mail to {0}: {1} | {0} should get this mail: {1} | Send {0} this text by email: {1} | Answer {0} by mail: {1} |
I must email {0}: {1}"""),
        (Outcome(("status", "state", "sent"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
        "The email to {0} is {o}.",
    ),
    Concept(
        phrases("""send_message | message | text_contact | sms | send_sms | notify | sendMessage |
chat_send |
text_message | new_message | write_message | text_person | send_text | message_send"""),
        phrases("""Send a message to a person. | Text somebody | Sends a text message. | Message a contact |
Send a text. | Sends a note to a contact."""),
        (PERSON, TASK),
        phrases("""Send {0} a message: {1} | Text {0}: {1} | Message {0}: {1} | Tell {0}: {1} |
Write {0} this: {1} | Send this to {0}: {1} | Let {0} know: {1} | Please tell {0} this: {1} |
Message to {0}: {1} | Send {0} this text: {1} | A text to {0}: {1} | Say to {0}: {1} | {0} should know this: {1} |
Inform {0}: {1} | Drop {0} a message: {1} | Pass this on to {0}: {1} | I want to tell {0}: {1}"""),
        (Outcome(("status", "state", "delivery"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
        "The message to {0} is {o}.",
    ),
    Concept(
        phrases("""create_reminder | remind | set_reminder | add_reminder | reminder | remind_me |
createReminder |
new_reminder | reminder_add | make_reminder | save_reminder | remember_task | reminder_set"""),
        phrases("""Create a reminder. | Set a reminder | Reminds the user. | Add a reminder at a time |
Sets a reminder. | Remember a task."""),
        (TASK, TIME),
        phrases("""Remind me to {0} at {1}. | Set a reminder to {0} at {1}. | At {1}, remind me to {0}. |
I must {0} at {1}. Remind me. | Please remind me at {1} to {0}. | Reminder: {0}, {1} |
Do not let me forget to {0} at {1}. | Add a reminder for {1}: {0} |
Remind me at {1}: {0} | I want to {0} at {1}. Remind me. | Make a reminder to {0} at {1}. |
At {1} I need to {0}. Set a reminder. | I should {0} at {1}. Do not let me forget. | Reminder at {1}: {0} |
Tell me at {1} to {0}. | Help me to remember to {0} at {1}. | {1}: remind me to {0}"""),
        (Outcome(("status", "state", "saved"), lambda s: s.any(("set", "ok", "saved", "created")), "{}"),),
        "The reminder to {0} at {1} is {o}.",
    ),
    Concept(
        phrases("""set_alarm | alarm | wake_me | create_alarm | add_alarm | alarm_clock | setAlarm | new_alarm |
alarm_set | make_alarm | wake_up | wakeup_alarm | alarm_at"""),
        phrases("""Set an alarm. | Alarm clock | Sets an alarm at a time. | Wake the user |
Create an alarm. | Wakes you up."""),
        (TIME,),
        phrases("""Set an alarm for {0}. | Wake me at {0}. | Alarm at {0}. | Please wake me up at {0}. |
I must get up at {0}. | Set the alarm to {0}. | Can you wake me at {0}? | I need an alarm at {0}. |
Alarm for {0}, please. | Ring at {0}. | Get me up at {0}. | Wake me up at {0}. | I want to get up at {0}. |
Create an alarm for {0}. | Let the alarm ring at {0}. | My alarm should ring at {0}. | Make an alarm for {0}. |
Alarm: {0}"""),
        (Outcome(("status", "state", "alarm"), lambda s: s.any(("set", "ok", "on", "active")), "{}"),),
        "The alarm at {0} is {o}.",
    ),
    Concept(
        phrases("""set_timer | timer | start_timer | countdown | egg_timer | startTimer | set_timer_minutes |
new_timer | timer_start | kitchen_timer | run_timer | setTimer"""),
        phrases("""Start a timer. | Countdown timer | Starts a timer. | Timer in minutes | Sets a timer. |
A kitchen timer."""),
        (Field(("minutes", "duration", "length", "min", "duration_minutes"), "integer", number(1, 90)),),
        phrases("""Set a timer for {0} minutes. | Start a timer of {0} minutes. | Timer: {0} minutes |
{0} minutes, please. | Count down {0} minutes. | Please start a {0} minute timer. |
Tell me when {0} minutes are over. | I need a timer for {0} minutes. |
Timer for {0} minutes. | Start {0} minutes. | Create a timer of {0} minutes. | Let a timer run for {0} minutes. |
Ring in {0} minutes. | Wait {0} minutes. | My eggs need {0} minutes. | Give me {0} minutes on the timer. |
{0} minute timer | Make it {0} minutes."""),
        (Outcome(("status", "state", "timer"), lambda s: s.any(("running", "ok", "started", "set")), "{}"),),
        "The timer of {0} minutes is {o}.",
    ),
    Concept(
        phrases("""set_temperature | thermostat | set_thermostat | heat | heating | set_room_temperature |
change_temperature | heat_room | room_temperature | temperature_set | setTemperature | set_heating"""),
        phrases("""Set the temperature of a room. | Thermostat | Controls the heating. | Heat a room |
Room temperature. | Sets the thermostat."""),
        (
            Field(("room", "place", "zone", "where"), "string", text(pick(words.PLACES))),
            Field(("degrees", "temperature", "target", "celsius", "value"), "integer", number(10, 30)),
        ),
        phrases("""Set the {0} to {1} degrees. | Heat the {0} to {1} degrees. | Make the {0} {1} degrees. |
Please set the temperature in the {0} to {1}. | {0}: {1} degrees | Turn the {0} heating to {1} degrees. |
I want {1} degrees in the {0}. | Bring the {0} to {1} degrees. |
The {0} should have {1} degrees. | Warm the {0} to {1} degrees. | Set {1} degrees in the {0}. |
Cool the {0} to {1} degrees. | Put the {0} at {1} degrees. | Temperature of the {0} to {1}. |
I like {1} degrees in the {0}. | Change the {0} to {1} degrees. | Let the {0} be {1} degrees."""),
        (Outcome(("status", "state", "heating"), lambda s: s.any(("set", "ok", "on", "done")), "{}"),),
        "The {0} is {o} at {1} degrees.",
    ),
    Concept(
        phrases("""set_light | light | lights | switch_light | toggle_light | lamp | setLight |
control_lights |
turn_light | light_switch | change_light | room_light | lights_set | switchLight"""),
        phrases("""Switch a light. | Light switch | Turns a light on or off. | Controls the lights |
Lights. | Switch lights in a room."""),
        (
            Field(("room", "place", "where", "zone"), "string", text(pick(words.PLACES))),
            Field(("on", "state", "active", "enabled", "power"), "boolean", switch("on", "off")),
        ),
        phrases("""Turn {1} the light in the {0}. | Switch {1} the {0} light. | {0} light {1}, please. |
Turn the {0} light {1}. | Light {1} in the {0}. | Please turn the light in the {0} {1}. |
I want the {0} light {1}. | Lights {1} in the {0}. |
Put the {0} light {1}. | The light in the {0} should be {1}. | {0} lights {1} | Set the {0} light to {1}. |
Make the light in the {0} go {1}. | Light {1}: {0} | The {0} lamp {1}, please. | Change the {0} light to {1}. |
Let the {0} light be {1}."""),
        (Outcome(("status", "state", "light"), lambda s: s.any(("done", "ok", "changed")), "{}"),),
        "The {0} light is {1}: {o}.",
    ),
    Concept(
        phrases("""play_music | play | play_song | music | player | start_music | playMusic | music_play |
start_song | play_track | song | music_player | playSong"""),
        phrases("""Play music. | Music player | Plays a song. | Play a song by name | Starts the music. |
Plays something."""),
        (Field(("song", "title", "track", "query", "name"), "string", text(words.phrase)),),
        phrases("""Play {0}. | Play the song {0}. | Put on {0}. | I want to hear {0}. | Start the song {0}. |
Please play {0}. | Can you play {0}? | Let me hear {0}. |
Music: {0} | The song {0}, please. | Start {0}. | I like {0}. Play it. | Play some {0}. | Play me {0}. |
I feel like {0}. Play it. | Give me the song {0}. | Turn on the song {0}. | Next song: {0}"""),
        (Outcome(("status", "state", "player"), lambda s: s.any(("playing", "ok", "started")), "{}"),),
        "{0} is {o}.",
    ),
    Concept(
        phrases("""book_flight | flight | find_flight | search_flights | flights | bookFlight | flight_search |
get_flights | plan_flight | fly | find_flights | flightSearch"""),
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
Is there a flight from {0} to {1} on {2}? |
I have to fly from {0} to {1} on {2}. | Search flights from {0} to {1} on {2}. | Flight: {0} to {1}, {2} |
Get me from {0} to {1} by plane on {2}. | A flight from {0} to {1} on {2}, please. |
Show flights from {0} to {1} for {2}. | On {2} I travel from {0} to {1} by plane. |
What flights go from {0} to {1} on {2}?"""),
        (
            Outcome(("flight", "number", "code"), words.identifier, "flight {}"),
            Outcome(("price", "cost", "fare"), amount(30, 999), "price {}"),
        ),
        "From {0} to {1}: {o}.",
    ),
    Concept(
        phrases("""create_event | add_event | calendar | schedule | new_event | book_meeting | createEvent |
calendar_add | event | plan_event | save_event | addEvent | schedule_event | event_create"""),
        phrases("""Add a calendar event. | Calendar | Creates an event. | Schedule something |
Put it in the calendar. | New calendar entry."""),
        (Field(("title", "event", "name", "what", "subject"), "string", text(pick(words.EVENTS))), DAY, TIME),
        phrases("""Schedule a {0} on {1} at {2}. | Add a {0} on {1} at {2}. |
Put a {0} in my calendar on {1} at {2}. | I have a {0} on {1} at {2}. | Plan a {0} for {1} at {2}. |
Create an event: {0}, {1}, {2} | Book a {0} on {1} at {2}. | On {1} at {2} there is a {0}. Note it. |
Make a {0} on {1} at {2}. | New event: {0} on {1} at {2} | The {0} is on {1} at {2}. Save it. |
Set up a {0} on {1} at {2}. | Enter a {0} on {1} at {2}. | Calendar: {0}, {1}, {2} | I want a {0} on {1} at {2}. |
Arrange a {0} for {1} at {2}. | We have a {0} on {1} at {2}."""),
        (Outcome(("status", "state", "event"), lambda s: s.any(("created", "ok", "saved", "booked")), "{}"),),
        "The {0} on {1} at {2} is {o}.",
    ),
    Concept(
        phrases("""order_food | add_to_cart | buy | order_item | cart_add | shop | addToCart | order | buy_item |
buy_food | cart | food_order | place_order"""),
        phrases("""Order food. | Shop | Adds food to the cart. | Buy something | Puts items in the cart. |
Order items."""),
        (FOOD, COUNT),
        phrases("""Order {1} {0}. | Buy {1} of {0}. | Add {1} {0} to the cart. | I want {1} {0}. |
Put {1} {0} in my cart. | Please order {1} of the {0}. | Get me {1} {0}. | {1} x {0}, please. |
I need {1} {0}. | {1} {0}, please. | Bring me {1} {0}. | Send me {1} {0}. | My order: {1} {0} | I take {1} {0}. |
{1} of the {0}, please. | Shop for {1} {0}. | Add {1} times {0}. | We need {1} of {0}."""),
        (Outcome(("status", "state", "cart"), lambda s: s.any(("added", "ok", "ordered")), "{}"),),
        "{1} {0}: {o}.",
    ),
    Concept(
        phrases("""save_note | write_note | note | take_note | add_note | memo | saveNote | new_note | note_add |
keep_note | store_note | make_note | noteSave"""),
        phrases("""Save a note. | Notes | Writes a note. | Keep a text | Takes a note. | Remembers a text."""),
        (Field(("text", "note", "content", "body", "message"), "string", text(words.phrase)),),
        phrases("""Note: {0} | Save a note: {0} | Write down: {0} | Take a note: {0} |
Please note this: {0} | Keep this: {0} | Make a note that says {0} | Jot down {0} |
New note: {0} | Remember this: {0} | Do not forget: {0} | Store this text: {0} | Please save this: {0} |
A note for me: {0} | Add to my notes: {0} | I want to note {0} | Notes: {0}"""),
        (Outcome(("status", "state", "note"), lambda s: s.any(("saved", "ok", "stored")), "{}"),),
        "The note is {o}.",
    ),
    Concept(
        phrases("""add_tags | tag | label | set_tags | tag_item | add_labels | setTags | tags | put_tags | tag_add |
label_item | update_tags | addTags"""),
        phrases("""Add tags to an item. | Tagging | Sets the tags. | Label an item | Tags things. |
Attach labels."""),
        (
            Field(("id", "item", "code", "target", "key"), "string", text(words.identifier)),
            Field(("tags", "labels", "list", "values", "words"), "array", listing(pick(words.COMMON))),
        ),
        phrases("""Tag {0} with {1}. | Label {0} as {1}. | Add the tags {1} to {0}. | Put {1} on {0}. |
Give {0} the tags {1}. | Please tag {0}: {1} | Set the labels of {0} to {1}. | {0} gets the tags {1}. |
Attach {1} to {0}. | Mark {0} with {1}. | Tags for {0}: {1} | Use the tags {1} for {0}. |
{0} should have the tags {1}. | For {0} set the tags {1}. | Put the labels {1} on {0}. | Label {0} with {1}. |
The item {0} needs the tags {1}."""),
        (Outcome(("status", "state", "tags"), lambda s: s.any(("done", "ok", "saved")), "{}"),),
        "The tags of {0}: {o}.",
    ),
    Concept(
        phrases("""set_volume | volume | change_volume | sound | set_sound | loudness | set_loudness | volume_set |
setVolume | sound_level | volume_level | change_sound"""),
        phrases("""Set the volume. | Volume control | Changes the volume. | Make it louder or quieter |
Sound level. | Controls the sound."""),
        (Field(("level", "volume", "percent", "value"), "integer", number(0, 100)),),
        phrases("""Set the volume to {0}. | Volume {0}. | Turn the sound to {0} percent. |
Make the volume {0}. | Please set the sound to {0}. | I want volume {0}. | Change the volume to {0}. |
Sound level {0}, please. |
Put the volume at {0}. | Turn it to {0}. | Sound to {0}. | The volume should be {0}. | Volume to {0} percent. |
Set the sound level to {0}. | Play at volume {0}. | Louder or quieter: {0} | Go to volume {0}."""),
        (Outcome(("status", "state", "volume"), lambda s: s.any(("set", "ok", "done")), "{}"),),
        "The volume is {o}: {0}.",
    ),
    Concept(
        phrases("""roll_dice | dice | random_number | roll | throw_dice | rollDice | throw | random | get_random |
dice_roll | roll_die | randomNumber"""),
        phrases("""Roll a die. | Dice | Returns a random number. | Throw a die | Random number. |
Rolls dice."""),
        (Field(("sides", "max", "faces", "n"), "integer", number(4, 100)),),
        phrases("""Roll a die with {0} sides. | Throw a {0} sided die. | Random number up to {0}. |
Roll a d{0}. | Give me a number from 1 to {0}. | Roll the dice, {0} sides. |
Pick a random number below {0}. | Please roll a {0} sided die. |
I need a random number up to {0}. | Roll {0}. | Dice with {0} sides, please. | Throw the dice with {0} sides. |
Choose a number from 1 to {0}. | Let the die with {0} sides roll. | A d{0}, please. | Random: 1 to {0} |
Draw a number up to {0}."""),
        (Outcome(("roll", *RESULT), amount(1, 100), "{}"),),
        "You rolled {o}.",
    ),
)
