"""Everyday tools of days and times: reminders, alarms, timers, events, tables and taxis."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, number, pick, text
from tools.tiny.text.lookup_fields import DAY, TASK, TIME
from tools.tiny.text.source import phrases

CREATE_REMINDER = Concept(
    phrases("""create_reminder | remind | set_reminder | add_reminder | reminder | remind_me | createReminder |
new_reminder | reminder_add | make_reminder | save_reminder | remember_task | reminder_set | reminder_create |
remindMe | setReminder | addReminder | remind_user | schedule_reminder | remind_at | todo_reminder |
put_reminder | remind_later | task_reminder | reminder_new | plan_reminder | nudge_me | poke_me | reminderSet |
memo_alert | recall_task | task_alert | nudge_user | addTodoReminder | later_note | memory_helper | prompt_later |
setTaskReminder | timed_memo"""),
    phrases("""Create a reminder. | Set a reminder | Reminds the user. | Add a reminder at a time |
Sets a reminder. | Remember a task. | Creates a reminder. | Reminder | Remind somebody of a task. |
Reminds you of something at a time | Reminder for a task. | Set up a reminder | Saves a reminder with a time. |
New reminder | Makes a reminder. | Reminds you to do a task. | Task reminder with a time. |
Schedule a reminder. | Reminders. | Adds one reminder. | Use this to be reminded. | Store a reminder for later."""),
    (TASK, TIME),
    phrases("""Remind me to {0} at {1}. | Set a reminder to {0} at {1}. | At {1}, remind me to {0}. |
I must {0} at {1}. Remind me. | Please remind me at {1} to {0}. | Reminder: {0}, {1} |
Do not let me forget to {0} at {1}. | Add a reminder for {1}: {0} | Remind me at {1}: {0} |
I want to {0} at {1}. Remind me. | Make a reminder to {0} at {1}. | At {1} I need to {0}. Set a reminder. |
I should {0} at {1}. Do not let me forget. | Reminder at {1}: {0} | Tell me at {1} to {0}. |
Help me to remember to {0} at {1}. | {1}: remind me to {0} | Can you remind me to {0} at {1}? |
Could you remind me at {1} that I have to {0}? | I need a reminder at {1} to {0}. |
I need to be reminded to {0} at {1}. | Remind me that I must {0} at {1}. | remind me {1} {0} |
Set a reminder for {1}: {0} | Set me a reminder to {0}. Time: {1}. | Reminder to {0} at {1}, please. |
Put in a reminder for {1} to {0}. | Create a reminder at {1}: {0} | New reminder: {0} at {1} |
Give me a nudge at {1} to {0}. | Nudge me at {1} to {0}. | Ping me at {1} to {0}. | Make sure I {0} at {1}. |
I always forget to {0}. Remind me at {1}. | I might forget to {0} at {1}. Please remind me. |
Don't let me forget: {0} at {1} | At {1} I have to {0}, so remind me. | My task at {1}: {0}. Remind me of it. |
When it is {1}, remind me to {0}. | When the clock says {1}, tell me to {0}. | I'd like a reminder to {0} at {1}. |
Schedule a reminder: {0}, at {1} | It is important that I {0} at {1}. Remind me. |
Could I get a reminder at {1} to {0}? | Would you remind me to {0} when it is {1}? | Reminder for {1}: {0} |
Remind me of this at {1}: {0} | Please add a reminder. At {1}, {0}. | Help me not to forget to {0} at {1}. |
I have to remember to {0} at {1}. | Set up a reminder so that I {0} at {1}. | Save a reminder: {0}, {1} |
Let me know at {1} that I have to {0}. | Nudge me about this at {1}: {0} | Once it is {1}, remind me to {0}. |
Around {1} you should remind me to {0}. | I tend to forget things. {1}: {0} |
When the clock shows {1}, remind me to {0}. | Please poke me at {1}: {0} |
I will forget to {0} unless you remind me at {1}. | I have to {0} later, at {1}. Set a reminder. |
Have a reminder pop up at {1}: {0} | Let a reminder come at {1}: {0} | Schedule a reminder: {0}, {1} |
A nudge at {1}, please: {0} | Remind me of something at {1}: {0} | Reminder please. What: {0}. When: {1}. |
To be reminded at {1}: {0} | Tell me later, at {1}, to {0}. | It slips my mind to {0}. Remind me at {1}. |
Give me a heads-up at {1}: {0} | Could I be reminded at {1} to {0}? | I would hate to forget this at {1}: {0} |
Keep me on track. {1}, {0} | Shout at me at {1}: {0} | Hey, at {1} I need to {0}. Please remind me. |
Save a reminder for {1}: {0} | Record a reminder, {1}: {0} | Help me think of it at {1}: {0} |
Would you nudge me at {1} to {0}? | A reminder for today, {1}: {0} | Notify me at {1}: {0} |
Alert me at {1} that I must {0}. | Make sure that I {0} at {1}. | Make sure I do not forget to {0} at {1}. |
Make sure I remember to {0} at {1}. | Please make sure that I {0} at {1}. | Be sure that I {0} at {1}. |
See to it that I {0} at {1}. | See that I {0} at {1}. | Ensure that I {0} at {1}. | Ensure I {0} at {1}. |
Take care that I {0} at {1}. | Check that I {0} at {1}. | I have to make sure I {0} at {1}. |
It matters that I {0} at {1}. | I really have to {0} at {1}. Remind me. | Will you remind me to {0} when it is {1}? |
Can you remind me to {0} when it is {1}? | Could you remind me to {0} when the clock shows {1}? |
Remind me to {0} when it is {1}. | Remind me to {0} once it is {1}. | Remind me to {0} as soon as it is {1}. |
Would you remind me to {0} once it is {1}? | Please remind me to {0} when we have {1}. |
Tell me to {0} when it is {1}. | Nudge me to {0} when it is {1}. | Would you tell me at {1} to {0}? |
Would you remind me at {1} that I should {0}? | Would you remind me to {0}? It should come at {1}. |
Would you set a reminder to {0} for {1}? | I forget to {0} every time. Remind me at {1}. |
I keep forgetting to {0}. {1}, please. | My plan is to {0} at {1}. Remind me. | I promised to {0} at {1}. Remind me. |
I have promised to {0}. Remind me at {1}. | I plan to {0} at {1}, so remind me. | remind me to {0} at {1} |
remind me to {0} {1} | reminder {1} {0} | reminder to {0} at {1} | reminder at {1} to {0} | {0} at {1}, remind me |
{0} at {1}. Remind me. | {1}, remind me, {0} | At {1} sharp, remind me to {0}."""),
    (Outcome(("status", "state", "saved"), lambda s: s.any(("set", "ok", "saved", "created")), "{}"),),
    "The reminder to {0} at {1} is {o}.",
)

SET_ALARM = Concept(
    phrases("""set_alarm | alarm | wake_me | create_alarm | add_alarm | alarm_clock | setAlarm | new_alarm |
alarm_set | make_alarm | wake_up | wakeup_alarm | alarm_at | alarm_create | createAlarm | morning_alarm |
alarm_new | wakeMe | wake_user | schedule_alarm | start_alarm | alarm_time | wake_me_up | alarm_add |
set_wake_up | clock_alarm | ring_at | wakeup_call | bell_alarm | rouse_user | alarmSetter | wake_time |
bedtime_alarm | buzzer_at | program_alarm | wakeMeUp | clock_ring | sleep_alarm | enable_alarm"""),
    phrases("""Set an alarm. | Alarm clock | Sets an alarm at a time. | Wake the user | Create an alarm. |
Wakes you up. | Set an alarm clock | Sets the alarm clock. | Wakes the user at a time. |
Wake somebody at a time | Alarm. | Creates an alarm. | Rings at a time. | Makes the alarm clock ring. |
Wake-up alarm | Wake me up. | New alarm for a time. | Alarm for the morning. | Adds an alarm. |
Use this to wake somebody. | Sets a wake-up alarm. | Set when the alarm rings."""),
    (TIME,),
    phrases("""Set an alarm for {0}. | Wake me at {0}. | Alarm at {0}. | Please wake me up at {0}. |
I must get up at {0}. | Set the alarm to {0}. | Can you wake me at {0}? | I need an alarm at {0}. |
Alarm for {0}, please. | Ring at {0}. | Get me up at {0}. | Wake me up at {0}. | I want to get up at {0}. |
Create an alarm for {0}. | Let the alarm ring at {0}. | My alarm should ring at {0}. | Make an alarm for {0}. |
Alarm: {0} | Could you wake me up at {0}? | Can you set an alarm for {0}? | I need to wake up at {0}. |
I need to be up by {0}. | I have to get up at {0}. Set an alarm. | Set my alarm for {0}. | set alarm {0} |
alarm {0} | wake me {0} | Wake me up by {0}. | Don't let me sleep past {0}. |
Don't let me sleep longer than {0}. | I must not sleep longer than {0}. Wake me. | Put the alarm on {0}. |
Put an alarm at {0}. | Give me an alarm at {0}. | New alarm: {0} | Add an alarm at {0}. |
I'd like to be woken at {0}. | I'd like an alarm at {0}. | Please have the alarm go off at {0}. |
The alarm has to go off at {0}. | Make the alarm clock ring at {0}. | Set the alarm clock to {0}. |
Alarm clock: {0} | {0} alarm, please. | At {0} the alarm should ring. | At {0} I want to wake up. |
When should I get up? At {0}. Set the alarm. | My day starts at {0}. Wake me then. |
I want the alarm at {0} tomorrow. | Tomorrow I get up at {0}. Set an alarm. |
Would you make sure I wake up at {0}? | Get me out of bed at {0}. | I have to be out of bed at {0}. |
Let me sleep until {0}. | I want to sleep until {0}, then wake me. |
Can you create an alarm for {0}? | Create the alarm: {0} | New alarm for {0}, please. | I need a new alarm at {0}. |
Ring me awake at {0}. | I have an early flight, so wake me at {0}. | Please let the alarm go off at {0}. |
Alarm goes off at {0}, please. | Have my alarm ring at {0}. | Rise and shine at {0}. |
Could you rouse me at {0}? | Tomorrow I rise at {0}. Set the alarm. | Put my alarm clock on {0}. |
Make sure I am awake at {0}. | Schedule a wake-up at {0}. | A wake-up call at {0}, please. |
I am a heavy sleeper. Alarm for {0}. | Beep at {0} to wake me. | My bus leaves early. Alarm at {0}. |
Turn on an alarm for {0}. | Activate the alarm for {0}. | Let me sleep until {0}, then wake me. |
I am going to bed. Alarm at {0}, please. | School starts early: wake me up at {0}. | Program the alarm: {0} |
My alarm for tomorrow is {0}. | Arrange an alarm for {0}. | Wake-up time: {0} | No snoozing, wake me at {0}. |
I oversleep a lot. Wake me at {0}, please."""),
    (Outcome(("status", "state", "alarm"), lambda s: s.any(("set", "ok", "on", "active")), "{}"),),
    "The alarm at {0} is {o}.",
)

SET_TIMER = Concept(
    phrases("""set_timer | timer | start_timer | countdown | egg_timer | startTimer | set_timer_minutes |
new_timer | timer_start | kitchen_timer | run_timer | setTimer | create_timer | timer_set | startCountdown |
start_countdown | count_down | minute_timer | timer_minutes | add_timer | timer_new | begin_timer |
cooking_timer | oven_timer | minutes_timer | time_down | newTimer | countdown_timer | cook_timer | timerSet |
run_countdown | interval_timer | minuteTimer | timer_begin | count_minutes | clock_down | beep_after |
launch_timer"""),
    phrases("""Start a timer. | Countdown timer | Starts a timer. | Timer in minutes | Sets a timer. |
A kitchen timer. | Set a timer. | Starts a countdown. | Timer | Countdown in minutes. |
Runs a timer for some minutes. | Start a countdown | Timer for the kitchen. | Counts down the minutes. |
Rings after some minutes. | New timer | Creates a timer. | Timer that rings when the minutes are over. |
Set a countdown in minutes. | Use this to time something. | Begins a timer. |
Tells you when the minutes are over."""),
    (
        Field(
            ("minutes", "duration", "length", "min", "duration_minutes", "mins", "timer_minutes", "for_minutes"),
            "integer",
            number(1, 90),
        ),
    ),
    phrases("""Set a timer for {0} minutes. | Start a timer of {0} minutes. | Timer: {0} minutes |
{0} minutes, please. | Count down {0} minutes. | Please start a {0} minute timer. |
Tell me when {0} minutes are over. | I need a timer for {0} minutes. | Timer for {0} minutes. |
Start {0} minutes. | Create a timer of {0} minutes. | Let a timer run for {0} minutes. | Ring in {0} minutes. |
Wait {0} minutes. | My eggs need {0} minutes. | Give me {0} minutes on the timer. | {0} minute timer |
Make it {0} minutes. | Can you set a timer for {0} minutes? | Could you start a timer? {0} minutes. |
set timer {0} minutes | timer {0} min | {0} min timer | Put {0} minutes on the timer. |
Put {0} minutes on the clock. | Set the timer to {0} minutes. | I want a timer of {0} minutes. |
Start a countdown of {0} minutes. | Countdown: {0} minutes | Countdown from {0} minutes, please. |
Begin a {0} minute countdown. | Start the countdown, {0} minutes. | Start the clock: {0} minutes |
Let me know in {0} minutes. | Let me know when {0} minutes have passed. | Tell me when {0} minutes are up. |
Ring when {0} minutes are up. | Ring after {0} minutes. | Beep in {0} minutes. |
Make the timer ring in {0} minutes. | The pasta takes {0} minutes. Start a timer. |
The cake has to bake for {0} minutes. Set a timer. | My tea needs {0} minutes. Start the timer. |
I have {0} minutes. Set a timer. | I'm cooking. Set {0} minutes on the timer. | New timer, {0} minutes. |
Run a {0} minute timer. | Would you time {0} minutes for me? | Time {0} minutes. |
I'd like a {0} minute timer. | How about a timer for {0} minutes? | Timer on, {0} minutes. |
Give me {0} minutes, then ring. | The timer should run for {0} minutes. | Set a kitchen timer for {0} minutes. |
Wait for {0} minutes, then ring. | The bread bakes for {0} minutes. Start a timer. |
Bake it for {0} minutes. Set the timer. | I have to wait {0} minutes. Start the timer. |
The eggs take {0} minutes. Start a timer. | Beep after {0} minutes. | {0} minutes from now, let it ring. |
A countdown of {0} minutes, please. | Let the clock count {0} minutes. | Give me a timer with {0} minutes. |
Kitchen timer: {0} minutes | Begin a countdown of {0} minutes. | I take a nap of {0} minutes. Timer, please. |
The cake stays in for {0} minutes, so start the timer. | Stopwatch down from {0} minutes. |
The laundry needs {0} minutes. Set the timer. | Run a timer for {0} minutes. |
Put the kitchen timer on {0} minutes. | Set the countdown to {0} minutes. | Please count {0} minutes down. |
In {0} minutes, tell me that time is up. | I study for {0} minutes now. Start counting. |
I have {0} minutes. Let the timer run. | Sound a bell in {0} minutes. | Minutes on the timer: {0} |
Timer please, {0} min. | {0} minute countdown, go. | Break of {0} minutes. Start the timer. |
The rice boils for {0} minutes. Timer! | Measure {0} minutes on the clock. | Make the timer {0} minutes long."""),
    (Outcome(("status", "state", "timer"), lambda s: s.any(("running", "ok", "started", "set")), "{}"),),
    "The timer of {0} minutes is {o}.",
)

CREATE_EVENT = Concept(
    phrases("""create_event | add_event | calendar | schedule | new_event | book_meeting | createEvent |
calendar_add | event | plan_event | save_event | addEvent | schedule_event | event_create | calendar_entry |
new_appointment | add_appointment | calendar_event | make_event | put_in_calendar | add_calendar_event |
event_add | scheduleEvent | create_appointment | plan_meeting | add_to_calendar | calendarAdd | enter_event |
save_date | block_calendar | agenda_add | diary_entry | insert_event | book_slot | plan_appointment | fix_date |
register_event | newAppointment | calendar_write | put_appointment"""),
    phrases("""Add a calendar event. | Calendar | Creates an event. | Schedule something |
Put it in the calendar. | New calendar entry. | Create a calendar event. | Adds an event to the calendar. |
Plan an event | Puts an event in the calendar. | Event planner. | Calendar entry | Makes an appointment. |
Schedules an event. | Save an event in the calendar | New event. | Enters a date in the calendar. |
Event with a day and a time. | Books a time in the calendar. | Add an appointment | Calendar tool. |
Creates an entry in the calendar."""),
    (
        Field(
            ("title", "event", "name", "what", "subject", "event_name", "event_title", "entry"),
            "string",
            text(pick(words.EVENTS)),
        ),
        DAY,
        TIME,
    ),
    phrases("""Schedule a {0} on {1} at {2}. | Add a {0} on {1} at {2}. | Put a {0} in my calendar on {1} at {2}. |
I have a {0} on {1} at {2}. | Plan a {0} for {1} at {2}. | Create an event: {0}, {1}, {2} |
Book a {0} on {1} at {2}. | On {1} at {2} there is a {0}. Note it. | Make a {0} on {1} at {2}. |
New event: {0} on {1} at {2} | The {0} is on {1} at {2}. Save it. | Set up a {0} on {1} at {2}. |
Enter a {0} on {1} at {2}. | Calendar: {0}, {1}, {2} | I want a {0} on {1} at {2}. | Arrange a {0} for {1} at {2}. |
We have a {0} on {1} at {2}. | Can you schedule a {0} on {1} at {2}? |
Could you put a {0} in the calendar on {1} at {2}? | {0} {1} {2} in my calendar | add {0} on {1} at {2} |
calendar {0} {1} {2} | Schedule the {0} for {1}, {2}. | Put the {0} in the calendar: {1}, {2} |
Put down a {0} for {1} at {2}. | Add the {0} to my calendar for {1} at {2}. | Add an event on {1} at {2}: {0} |
Add to the calendar: {0} on {1}, {2} | Calendar entry: {0} on {1} at {2} |
Create a calendar event for the {0} on {1} at {2}. | Create a {0} for {1} at {2}. |
Make a calendar entry for the {0}, {1} at {2}. | Make an appointment: {0}, {1}, {2} | I need a {0} on {1} at {2}. |
I need a calendar entry for a {0} on {1} at {2}. | I'd like to plan a {0} on {1} at {2}. |
I'd like to have a {0} on {1} at {2}. | There will be a {0} on {1} at {2}. Put it in the calendar. |
There is a {0} on {1} at {2}. Add it to my calendar. | My {0} is on {1} at {2}. Enter it. |
Our {0} takes place on {1} at {2}. Save the date. | The {0} will be on {1} at {2}. Schedule it. |
The {0} starts on {1} at {2}. Put it in my calendar. | We are planning a {0} for {1} at {2}. |
We need to schedule a {0} on {1} at {2}. | On {1} at {2}, schedule a {0}. | On {1} I have a {0} at {2}. |
On {1} we have a {0}. It starts at {2}. Add it. | At {2} on {1} there is a {0}. Save it. |
For {1} at {2}, plan a {0}. | {1} at {2}: {0}. Put it in the calendar. | Would you plan the {0} for {1} at {2}? |
Let's have a {0} on {1} at {2}. | Let's plan the {0} on {1} at {2}. | Save the date: {0}, {1} at {2} |
Enter the {0} in my calendar, {1} at {2}. | Event on {1} at {2}: {0} | Can you book a {0} on {1} at {2}? |
I'd like to book a {0} for {1} at {2}. | Note in the calendar: {0}, {1} at {2} |
Please note a {0} on {1} at {2} in my calendar. | Block {1} at {2} for the {0}. |
Reserve {1}, {2} in my calendar: {0} | Our {0} moved to {1}, {2}. Put it in. | Mark {1} {2} as {0}. |
Pencil in the {0}: {1}, {2} | Calendar entry please: {0}, {1}, {2} | Put {0} on the calendar. {1}, {2}. |
{1} {2}: {0}. Into the calendar, please. | Keep {1} at {2} free for the {0}. |
There will be a {0} on {1} at {2}. Enter it in my calendar. | Fix the {0} for {1} at {2}. |
Organise a {0} on {1}, {2}. | The date of the {0} is {1}, {2}. Add it. | Hold a {0} on {1} at {2}. |
I have a {0} this {1}, at {2}. Save it. | Book the {0} into my calendar for {1} at {2}. |
Make room on {1} at {2} for the {0}. | On my schedule: {0} at {2} on {1}. | Diary: {0} on {1}, {2} |
Set up the {0}. Day: {1}. Time: {2}. | We meet for the {0} on {1} at {2}. Note the appointment. |
Next {1} at {2} there is a {0}. Put it in my planner. | Write the {0} into the agenda, {1} {2}. |
My agenda needs the {0}: {1} at {2} | Plan {1}, {2}: {0} | Slot the {0} in on {1} at {2}. |
Announce the {0} in the calendar, {1}, {2}. | The {0} starts on {1} at {2}. Block that. |
Day {1}, time {2}, event {0}. | Let the calendar show the {0} on {1} at {2}. |
I accept the {0} on {1}, {2}. Add it to the calendar. | Save this date: {0}, {1} at {2} |
Save the time: {0}, {1} at {2} | Save the {0}: {1} at {2} | Save my date: {0} on {1} at {2} |
Save a date for the {0}: {1} at {2} | Note the date: {0}, {1} at {2} | Mark the date: {0}, {1} at {2} |
Mark the day: {0} on {1} at {2} | Keep the date: {0}, {1}, {2} | Block the date: {0}, {1} at {2} |
Enter the date: {0}, {1} at {2} | Date to save: {0}, {1} at {2} | A date to keep: {0}, {1} at {2} |
Here is a date: {0}, {1} at {2}"""),
    (Outcome(("status", "state", "event"), lambda s: s.any(("created", "ok", "saved", "booked")), "{}"),),
    "The {0} on {1} at {2} is {o}.",
)

BOOK_TABLE = Concept(
    phrases("""book_table | reserve_table | table | table_booking | bookTable | restaurant |
restaurant_booking | reservation | make_reservation | book_restaurant | reserve_seats | table_reservation |
reserveTable | reserve | dinner_table | get_table | book_dinner | restaurant_table | find_table | table_for |
dine_out | dinner_booking | restaurant_book | tableBooking | eat_out | get_table_for | hold_table |
party_booking | bistro_reservation | reserve_dinner | seat_reservation | booking_restaurant |
make_table_reservation"""),
    phrases("""Book a table. | Restaurant booking | Reserves a table in a restaurant. |
Books a table for some people. | Table reservation | Reserve a table at a time | Makes a reservation. |
Get a table in the restaurant. | Reserves seats at a table. | A table for dinner. | Books a restaurant table. |
Restaurant reservations. | Reserve a table. | Table booking for guests. | Finds a table for your guests. |
Books seats in a restaurant."""),
    (Field(("people", "guests", "persons", "seats", "party_size", "size", "how_many"), "integer", number(2, 20)), TIME),
    phrases("""Book a table for {0} at {1}. | Reserve a table for {0} people at {1}. |
A table for {0} at {1}, please. | Can you book a table for {0} people at {1}? |
Could you reserve a table at {1} for {0}? | book table {0} people {1} | table for {0} {1} |
reservation {0} people {1} | I need a table for {0} at {1}. | I need a reservation for {0} people at {1}. |
I want a table at {1} for {0} people. | I want to reserve a table for {0} at {1}. |
I'd like to book a table for {0} people. We come at {1}. | I'd like a table for {0}, at {1}. |
We are {0} people and want a table at {1}. | We are {0} guests. Book a table for {1}. |
We are {0}. Is there a table at {1}? | We come at {1} and we are {0} people. Reserve a table. |
We want to eat at {1}. Book a table for {0}. | We want to eat out at {1}, {0} people. |
At {1} we need a table for {0}. | At {1}, a table for {0} people, please. |
For {0} people, reserve a table at {1}. | For {0} guests at {1}, book a table. |
Dinner for {0} people at {1}. Reserve a table. | Dinner at {1} for {0} guests. Book the restaurant. |
Make a reservation for {0} at {1}. | Make a table reservation at {1}, {0} people. |
Get us a table for {0} at {1}. | Get a table at {1} for {0} guests. | Find us a table for {0} people at {1}. |
Find a table in the restaurant: {0} people, {1} | Restaurant at {1} for {0} people, please. |
Restaurant table for {0} guests at {1}. | Table at {1}, {0} people. | Table reservation: {0} guests, {1} |
Do they have a table for {0} at {1}? | Is a table for {0} people free at {1}? |
Are there seats for {0} guests at {1}? | Reserve {0} seats in the restaurant at {1}. |
Book {0} seats at a table for {1}. | Would you get us a table? {0} people, {1}. |
Let's eat out at {1}. Book a table for {0}. | We want to eat out at {1}, {0} of us. | Seat {0} of us at {1}. |
There are {0} hungry people. Restaurant at {1}? | A place to dine for {0}, {1}. |
Supper for {0} at {1}: reserve it. | Restaurant booking: {0} persons, {1} |
Could you get us in at {1}? We are {0}. | Ask the restaurant for a table, {0} persons, {1}. |
Our party of {0} eats at {1}. Reserve. | Party of {0}, {1}, restaurant. |
We come for lunch at {1} with {0} people. Get us a table. | Hold a table for {0} people at {1}. |
Secure a table at {1} for {0} guests. | {0} seats at the restaurant, {1}, please. |
We will be {0} at {1}. Please reserve seats in the restaurant. | A table for {0} guests, {1} sharp. |
A reservation at {1}, we are {0}. | Phone the restaurant: {0} people, {1} |
I invite {0} people to dinner at {1}. Find us a table. | The restaurant should expect {0} of us at {1}. |
Let us dine at {1}, {0} persons. | Brunch at {1} for {0}, book it please. | Arrange dinner for {0} at {1}. |
Please save a table, {0} people, at {1}. | Fix a table for {1}, {0} people. |
My family of {0} wants to eat at {1}. Table, please. | At {1} we are {0} for dinner. Reserve a table. |
Set up a table reservation: {1}, {0} guests | Table request: {0} at {1}."""),
    (
        Outcome(("status", "state", "booking"), lambda s: s.any(("booked", "confirmed", "ok", "reserved")), "{}"),
        Outcome(("table", "number", "table_number"), amount(1, 60), "table {}"),
    ),
    "A table for {0} at {1}: {o}.",
)

CALL_TAXI = Concept(
    phrases("""call_taxi | taxi | order_taxi | book_taxi | callTaxi | cab | call_cab | get_taxi | taxi_booking |
taxi_order | get_cab | ride | book_ride | request_ride | order_ride | orderCab | taxi_ride | find_taxi |
request_taxi | cab_booking | hail_taxi | taxiCall | rideRequest | cab_order | driver_request | request_car |
taxi_pickup | hire_cab | getRide | call_driver | transport_me | reserve_cab | lift_request"""),
    phrases("""Call a taxi. | Taxi | Orders a taxi to a place. | Books a taxi. | Book a cab |
Gets a cab to a place. | Taxi service | Order a ride. | Sends a taxi at a time. | Ride to a place. |
Taxi to a place at a time. | Calls a cab. | Order a taxi | Requests a ride. | A taxi takes you to a place. |
Cab booking."""),
    (Field(("to", "destination", "place", "target", "where", "goal"), "string", text(pick(words.PLACES))), TIME),
    phrases("""Call a taxi to the {0} at {1}. | Order a taxi to the {0} for {1}. | Book a taxi to the {0} at {1}. |
Call me a cab to the {0} at {1}. | Get me a taxi to the {0} at {1}. | Get a cab to the {0} for {1}. |
Can you call a taxi to the {0} for {1}? | Can I get a taxi to the {0} at {1}? |
Could you order a cab to the {0} at {1}? | Could I have a taxi at {1} to the {0}? | taxi to {0} {1} |
taxi {1} to the {0} | cab to the {0} at {1} | I need a taxi to the {0} at {1}. |
I need a cab at {1}. It goes to the {0}. | I need a ride to the {0} at {1}. | I want a taxi at {1} to the {0}. |
I want a cab to the {0} for {1}. | I'd like a taxi to the {0}, at {1}. | I'd like a ride to the {0} at {1}. |
I have to go to the {0} at {1}. Call a taxi. | I must be at the {0}. Send a taxi at {1}. |
We have to get to the {0}. Order a taxi for {1}. | We need a taxi at {1} to go to the {0}. |
We go to the {0} by taxi at {1}. Book it. | We take a cab to the {0} at {1}. Order one. |
At {1} I need a taxi to the {0}. | At {1}, call a cab to the {0}. | For {1}, order a taxi to the {0}. |
To the {0} by taxi at {1}, please. | To the {0} at {1}: book a cab. | A taxi to the {0} at {1}, please. |
A cab to the {0} for {1}, please. | A ride to the {0} at {1}, please. | Taxi to the {0}, {1}. |
Taxi at {1}, to the {0}. | Send a taxi at {1}. It should go to the {0}. | Send me a cab for the {0} at {1}. |
The taxi should come at {1} and go to the {0}. | The taxi to the {0} must come at {1}. |
Would you book a ride to the {0} at {1}? | Would you get a taxi for {1}? I go to the {0}. |
Have a taxi take me to the {0} at {1}. | Let a cab bring me to the {0} at {1}. | Is there a taxi to the {0} at {1}? |
Pick me up at {1}. I go to the {0}. | A driver at {1} to the {0}, please. | I want to be driven to the {0} at {1}. |
Send a car at {1}, destination {0}. | Drive me to the {0} at {1}. | A lift to the {0} at {1}, please. |
My train is gone. A taxi to the {0}, {1}. | Hail a cab to the {0} for {1}. | Arrange a taxi to the {0} at {1}. |
Destination {0}, pick-up {1}. | At {1} I need to get to the {0}. Send a taxi. |
Can a cab bring me to the {0} at {1}? | Reserve a cab: {1}, to the {0} | Cab for {1}, going to the {0}. |
Pick-up at {1} for the {0}. | I will ride to the {0} at {1}. Call a car. | From here to the {0} at {1}: taxi please. |
It rains. Taxi to the {0} at {1}. | Could a taxi be here at {1}? I go to the {0}. | Ride request: {0}, {1} |
Order a car to the {0} for {1}. | Tell the taxi company: {1}, to the {0}. | We leave for the {0} at {1}. Call a cab. |
The taxi for the {0} is needed at {1}. | I don't want to walk to the {0}. Cab at {1}. |
Have a cab ready at {1} to go to the {0}. | Get us a cab to the {0}, {1}. | {1}: cab to the {0} |
We leave for the {0} by taxi at {1}. Book it. | We drive to the {0} by cab at {1}. Book it. |
We go by taxi to the {0}. Book it for {1}. | We go to the {0} at {1}. Call a taxi. |
We take a taxi to the {0} at {1}. Book it. | I go to the {0} by taxi at {1}. Order it. |
I go to the {0} at {1}. Get me a cab. | I take a taxi to the {0} at {1}. Call it. |
I leave for the {0} at {1}. Order a taxi. | I ride to the {0} by cab at {1}. |
Can you call a cab to the {0} for {1}? | Can you order a taxi to the {0} for {1}? |
Can you get us a taxi to the {0} at {1}? | Can you book a cab to the {0} for {1}? |
Can you send a taxi to the {0} at {1}? | Could you call a taxi to the {0} for {1}? |
Could you call me a cab to the {0} at {1}? | Will you call a taxi to the {0} for {1}? |
Please call a taxi to the {0} for {1}. | Please call us a cab to the {0}, {1}. |
Call us a taxi to the {0}. It should come at {1}. | They go to the {0} by taxi at {1}. Book it. |
My parents go to the {0} by taxi at {1}. Order it. | By taxi to the {0}, {1}. Book it. | cab {0} {1} | taxi {0} {1} |
taxi {1} {0}"""),
    (
        Outcome(("status", "state", "taxi"), lambda s: s.any(("booked", "ok", "ordered", "coming")), "{}"),
        Outcome(("price", "fare", "cost"), amount(5, 90), "price {}"),
    ),
    "The taxi to the {0} at {1}: {o}.",
)
