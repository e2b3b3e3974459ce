"""Lookups about a city or a country: weather, time, capital, traffic, sunset, population."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, pick, text
from tools.tiny.text.lookup_fields import CITY, DEGREES, RESULT, SKY
from tools.tiny.text.source import phrases

WEATHER = Concept(
    phrases("""get_weather | weather | weather_lookup | current_weather | fetch_weather | check_weather | getWeather |
weather_now | get_current_weather | weather_in_city | local_weather | city_weather | get_forecast | weather_report |
show_weather | weatherLookup | get_weather_now | weather_info | weather_today | weather_check | find_weather |
weather_by_city | read_weather | todays_weather | getCurrentWeather | weather_for_city | weather_service |
lookup_weather | weather_data | weather_forecast | get_weather_report | cityWeather | sky_report | meteo |
climate_now | outside_conditions | forecastService | sky_state | weather_conditions | temperature_outside |
meteo_data | local_forecast | skyInfo | is_it_raining | storm_check | outdoor_weather"""),
    phrases("""Get the weather of a city. | The weather in a city | Current weather for a place |
Returns the weather now. | Look up the weather. | Weather of a city. | Get the current weather in a given city |
Shows the weather in a city. | Gives the current weather for a city. | Tells what the weather is like in a place. |
Weather report for a city | Weather conditions in a town. | Returns the current weather conditions of a place. |
Find out how the weather is in a city. | Temperature and sky in a city | Weather lookup by city name. |
Current temperature and conditions for a location. | Reports the temperature, the sky and the wind of a city. |
Fetch the weather report of a city. | Weather service | Weather | Use this to get the weather. |
Use this tool when the user asks about the weather. | Check how the weather is in a town. |
Local weather with temperature and wind | Weather forecast for a city. | Tells whether it rains in a place."""),
    (CITY,),
    phrases("""What is the weather in {0}? | How is the weather in {0}? | What's the weather like in {0}? |
Weather in {0}? | Tell me the weather in {0}. | Is it raining in {0}? | Do I need an umbrella in {0}? |
How warm is it in {0}? | What is the temperature in {0}? | Is it cold in {0} today? | Check the weather in {0}. |
What is the weather in {0} right now? | Give me the weather for {0}. | Will I need a coat in {0}? |
I am going to {0}. How is the weather there? | How's the weather in {0}? | What is it like outside in {0}? |
What is the weather today in {0}? | Can you tell me the weather in {0}? | Is it sunny in {0}? |
How hot is it in {0}? | Is it windy in {0}? | Does it rain in {0}? | Does it snow in {0}? |
The weather in {0}, please. | Weather report for {0}. | Get me the weather of {0}. | I need the weather for {0}. |
What is the sky like in {0}? | Should I take a jacket to {0}? | {0} weather | Show the weather in {0}. |
How many degrees are there in {0}? | What is the forecast for {0}? | Look up the weather in {0}. |
Which weather do they have in {0}? | Is it going to rain in {0}? | Will it rain in {0} today? | Any rain in {0}? |
Is there rain in {0} at the moment? | Do they have rain in {0}? | {0}: rain or sun? | Is it wet in {0}? |
Rain in {0} today? | Should I bring an umbrella to {0}? | I am in {0} today. Do I need an umbrella? |
Umbrella for {0}, yes or no? | Will I get wet in {0} without an umbrella? | Do I need a warm coat in {0}? |
Is a coat enough for {0} today? | I leave for {0} now. Should I take a coat? | Do I want a jacket in {0} today? |
Is it jacket weather in {0}? | What should I wear in {0} today, is it cold? |
Can I wear shorts in {0}, or is it too cold? | How cold is it in {0}? | How cold does it get in {0} today? |
Is it freezing in {0}? | Is it below zero in {0}? | Is there frost in {0}? | Is it warm enough to swim in {0}? |
Is it warm in {0} today? | It is hot here. Is it hot in {0} as well? | Is it hot or cold in {0}? |
Temperature in {0}? | What's the temperature in {0} right now? | The temperature in {0}, please. |
In {0}, what is the temperature outside? | Check the temperature in {0} for me. | How many degrees is it in {0}? |
How many degrees do they have in {0} today? | {0}, how many degrees? | Is the sun shining in {0}? |
Will the sun come out in {0} today? | Does the sun shine in {0} today? | Is it cloudy in {0}? |
Are there clouds over {0}? | Is the sky clear in {0}? | Is the sky grey over {0}? | Is there fog in {0}? |
Is there a storm in {0}? | Is a storm coming to {0}? | How strong is the wind in {0}? |
Is there a lot of wind in {0} today? | Is there snow in {0}? | Will it snow in {0} today? |
Has it started to snow in {0}? | Forecast for {0}? | Give me the forecast for {0}. |
What does the forecast say about {0}? | The forecast for {0} today, please. | How does the weather look in {0}? |
Is the weather good in {0}? | Is the weather nice in {0} today? | Is it bad weather in {0}? |
What sort of weather is there in {0}? | In {0}, how is the weather? | weather {0} | {0} weather today |
weather for {0} right now | I would like to know the weather in {0}. | Could you check what the weather is in {0}? |
Find out what the weather is like in {0}. | Let me know how the weather is in {0}. |
I fly to {0} today. What is the weather like there? | My sister lives in {0}. How is the weather there? |
We want to go for a walk in {0}. Will it rain? | We have a picnic in {0}. Will the weather be good? |
Can we eat outside in {0} today, or is it too cold? | Is it a nice day in {0}? | Current weather for {0}. |
Today's weather in {0}? | Do you know how the weather is in {0}? | whats the weather like today in {0} |
Is the weather good enough for a walk in {0}? | Is it colder than zero in {0}? | Are the skies clear over {0}? |
Clouds over {0}? | Do people in {0} need a jacket? | Storm in {0}? | Are there clouds in {0}? | The sky above {0}? |
What is the sky doing in {0}? | Is it frosty in {0}? | Temperature outside in {0}? |
How many degrees outside in {0}? | Conditions in {0}: weather | Rain or sun in {0}? | {0}, how is the weather? |
{0}, is it warm or cold? | {0}, how warm is it? | {0}: how warm? | {0}: degrees? | {0}, how cold is it? |
{0}, what are the degrees? | {0}, sun or rain? | How many degrees in {0}? | How many degrees has {0}? |
How many degrees does {0} have today? | In {0}, how many degrees? | Degrees in {0}?"""),
    (
        Outcome(DEGREES, amount(-15, 40), "{} degrees"),
        Outcome(SKY, pick(words.SKIES), "{}"),
        Outcome(("wind_kmh", "wind", "wind_speed"), amount(0, 90), "wind {} km/h"),
        Outcome(("humidity", "humidity_percent"), amount(10, 99), "humidity {} percent"),
    ),
    "It is {o} in {0}.",
)

LOCAL_TIME = Concept(
    phrases("""get_time | current_time | time_in | clock | local_time | getTime | world_clock | fetch_time |
get_local_time | time_lookup | what_time | time | get_clock | show_time | timeIn | time_now | get_time_in_city |
city_time | find_time | check_time | time_in_city | get_current_time | getLocalTime | time_in_place | time_of_city |
read_clock | timezone_time | localTime | time_service | tell_time | get_time_for_city | hour_in | clock_in |
time_zone_now | local_hour | watch_time | timezoneClock | hour_lookup | city_hour | now_in | there_time |
clock_city"""),
    phrases("""Get the time in a city. | The local time of a city | Current time in a place |
Returns the local time. | Look up the time. | Tells the time. | Get the current local time |
Shows the time in a city. | Gives the current time of a place. | Tells what time it is in a city. | World clock |
The clock of a city | What time it is in a place | Returns the current time for a location. | Time lookup by city. |
Check the local time of a town. | Local time | Clock | Find out what time it is somewhere. |
Reads the clock in a city. | Time of day in a city. | Use this to get the time in a city. |
Use this tool when the user asks what time it is. | Fetch the current local time of a place. |
Current time by location | Tells how late it is in a city."""),
    (CITY,),
    phrases("""What time is it in {0}? | What is the time in {0}? | Time in {0}? | Tell me the time in {0}. |
How late is it in {0}? | What is the local time in {0}? | Is it late in {0}? | Current time in {0}? |
Can you check the time in {0}? | What time is it now in {0}? | Give me the time in {0}. |
What does the clock say in {0}? | I need the time in {0}. | Get me the local time of {0}. | Time now in {0}? |
{0} time | Show the time in {0}. | The time in {0}, please. | Which time do they have in {0}? |
Look up the time in {0}. | What hour is it in {0}? | How early is it in {0}? | Local time of {0}? |
I want to call {0}. What time is it there? | Find the time in {0}. | What's the time in {0}? |
What's the time right now in {0}? | In {0}, what time is it? | {0}: what time is it? | {0}, local time? |
{0} time now | time in {0} right now | what time is it in {0} at the moment | local time {0} |
Do you know what time it is in {0}? | Do you know the time in {0}? | Could you tell me what time it is in {0}? |
I would like to know the time in {0}. | Let me know the time in {0}. | Find out what time it is in {0}. |
Check what time it is in {0}. | Check the local time in {0}. | Look at the clock in {0}. |
What does the clock show in {0}? | Read me the clock in {0}. | What do the clocks say in {0} now? |
What is the hour in {0}? | Which hour is it now in {0}? | At this moment, what time is it in {0}? |
The current time in {0}, please. | Current local time of {0}. | What is the current time in {0}? |
Get the current time for {0}. | How late is it now in {0}? | Is it already late in {0}? |
Is it too late to call {0}? | Is it too early to call somebody in {0}? | Is it still early in {0}? |
Is it morning in {0}? | Is it already morning in {0}? | Is it morning or evening in {0}? |
Is it day or night in {0}? | Is it night in {0} now? | Is it in the middle of the night in {0}? |
Is it evening in {0} already? | Is it past midnight in {0}? | Is it noon in {0} yet? |
My sister lives in {0}. What time is it there? | I land in {0} soon. What is the local time there? |
I have a call with {0}. What is the time there? | We have an office in {0}. How late is it there? |
Are they still awake in {0}? What time is it there? | I need to know how late it is in {0}. |
Tell me how late it is in {0}. | Tell me the local time in {0}. | Show me the clock of {0}. |
What time of day is it in {0}? | What time do people in {0} have now? | The clock in {0}, please. |
Is it after midnight in {0}? | Is it almost midnight in {0}? | Is it too early to phone {0} now? |
what does the clock say in {0} now | The clocks in {0} say what? | Hour in {0}? |
Is it already night in {0}? Give me the time. | My colleague sits in {0}. What time does she have? |
Zone time of {0}, please. | Time zone of {0}: the hour now? | Should I phone {0} now? What time is it there? |
The hour over there in {0}? | Watch in {0} shows what? | How late is it over in {0}? |
People in {0} have what time now? | O'clock in {0}? | I have a meeting with {0}. What is the time there? |
I have a friend in {0}. What time is it there? | I have a call to {0} soon. How late is it there? |
I have family in {0}. What is the time there? | We have a call with {0}. What time do they have? |
We have guests from {0}. What is the time there? | My boss is in {0}. What is the time there? |
My plane lands in {0}. What is the time there? | There is a call with {0}. What time is it there? |
What's the hour in {0}? | What's the local time in {0}? | What's the time of day in {0}? |
What's the time over in {0}? | What's the time there in {0}? | Time and clock in {0}, please."""),
    (Outcome(("time", "local_time", "now", "clock", "current_time"), words.clock, "{}"),),
    "It is {o} in {0}.",
)

CAPITAL = Concept(
    phrases("""get_capital | capital | capital_of | country_capital | lookup_capital | find_capital |
get_capital_city | capital_city | capital_lookup | show_capital | getCapital | which_capital | capital_finder |
capital_by_country | capitals | fetch_capital | find_capital_city | lookup_capital_city | capitalOf |
get_country_capital | capital_for_country | countryCapital | name_capital | read_capital | capital_info |
capital_of_country | main_city | government_seat | atlas_capital | nation_capital | country_main_city |
geography_capital | head_city | capitalFinder | land_capital | get_seat | country_seat"""),
    phrases("""Get the capital of a country. | Capitals | Returns a capital. | Capital city | Looks up capitals. |
The capital of a country. | Returns the capital of a country. | Finds the capital of a country. |
Capital of a country | Country capitals | Gives the capital city of a country. | Look up a country's capital. |
Capital lookup by country. | Tells which city is the capital of a country. | Which city is the capital |
Name of the capital city of a country | Capital cities | Shows the capital of a country. |
Capital cities of the world | Looks up the capital city. | Use this to find a capital. |
Use this tool when the user asks for a capital. | Get a capital by country | Gets the name of a capital. |
The capital city of a nation."""),
    (Field(("country", "nation", "name", "land", "state"), "string", text(pick(words.COUNTRIES))),),
    phrases("""Look up the capital of {0}. | What is the capital of {0}? | Capital of {0}? |
Which city is the capital of {0}? | Tell me the capital of {0}. | Name the capital of {0}. |
Find the capital of {0}. | Get me the capital of {0}. | Capital city of {0}? | Give me the capital of {0}. |
Show the capital of {0}. | What is the capital city of {0}? | {0} has which capital? | I need the capital of {0}. |
Where is the capital of {0}? | Check the capital of {0}. | What's the capital of {0}? |
What's the capital city of {0}? | What is {0}'s capital? | What is {0}'s capital city? | {0}'s capital? |
{0} capital | {0} capital city | {0}: which capital? | The capital of {0}, please. |
The capital city of {0}, please. | The capital of {0} is which city? | Do you know the capital of {0}? |
Do you know {0}'s capital? | Do you know which city is the capital of {0}? | Can you tell me the capital of {0}? |
Can you find the capital of {0}? | Could you look up the capital of {0}? | Could you look up {0}'s capital city? |
Could you name the capital of {0}? | Name the capital city of {0}. | Name {0}'s capital. |
Which city is the capital city of {0}? | Which city is {0}'s capital? | Which capital does {0} have? |
Which capital belongs to {0}? | What capital does {0} have? | What city is the capital of {0}? |
What is the name of the capital of {0}? | What is the name of {0}'s capital city? | Tell me {0}'s capital. |
Tell me the capital city of {0}. | Tell me which city is the capital of {0}. |
Tell me the name of the capital of {0}. | I want to know the capital of {0}. |
I would like to know the capital city of {0}. | I need to know the capital of {0}. |
I need the name of {0}'s capital. | I need the capital city of {0} for a quiz. | A quiz asks for the capital of {0}. |
For my homework: the capital of {0}? | I forgot the capital of {0}. | I forgot which city is the capital of {0}. |
I am learning the capitals. What is the capital of {0}? | I do not know the capital of {0}. | Find {0}'s capital. |
Find the capital city of {0}. | Find out the capital of {0}. | Find out which city is the capital of {0}. |
Get the capital of {0}. | Get the capital city of {0}. | Get {0}'s capital. | Give me {0}'s capital. |
Give me the capital city of {0}. | Look up {0}'s capital. | Look up the capital city of {0}. |
Look up which city is the capital of {0}. | Show me the capital of {0}. | Show me the capital city of {0}. |
What do they call the capital of {0}? | What do you call the capital city of {0}? | Seat of government of {0}? |
{0} is governed from which city? | Main city of {0}, the capital, please. |
The parliament of {0} is in which city? | Geography homework: capital of {0} |
In which capital does the government of {0} sit? | Country {0}, capital? |
What does the atlas give as capital of {0}? | Atlas: capital of {0} | The capital belonging to {0}? |
Ministers of {0} work in which capital? | {0} and its capital: look it up. | Fill in the capital: {0}"""),
    (Outcome(("capital", "city", *RESULT), words.city, "{}"),),
    "The capital of {0} is {o}.",
)

TRAFFIC = Concept(
    phrases("""get_traffic | traffic | traffic_info | check_traffic | traffic_report | traffic_jams | getTraffic |
traffic_in_city | find_traffic | traffic_now | show_traffic | road_traffic | traffic_lookup | fetch_traffic |
traffic_status | road_conditions | trafficInfo | city_traffic | traffic_service | current_traffic | traffic_state |
get_traffic_info | read_traffic | look_up_traffic | congestion | street_queues | jam_report | car_delays |
congestion_level | drive_conditions | street_state | trafficFlow | flow_of_cars | road_load | driving_delays |
queue_report | roadStatus"""),
    phrases("""Get the traffic in a city. | Traffic report | Returns the traffic on the roads. | Traffic jams |
Looks up the traffic. | How full the roads are | Current traffic in a city | Shows the traffic in a place. |
Gives the state of the roads. | Traffic information | Checks the traffic. | Tells whether there is a traffic jam. |
The traffic of a city | Traffic now | Finds traffic jams in a city. | Reports the traffic and the delay. | Traffic |
Returns jams and delays on the roads. | How busy the streets of a city are | Fetch a traffic report for a town. |
Use this to check the traffic. | Use this tool when the user asks about traffic or jams. | Road traffic in a city. |
Traffic on the streets of a town | Check for delays on the roads."""),
    (CITY,),
    phrases("""How is the traffic in {0}? | What is the traffic like in {0}? | Traffic in {0}? |
Is there a traffic jam in {0}? | Check the traffic in {0}. | Is there much traffic in {0}? |
Are the roads busy in {0}? | Tell me about the traffic in {0}. | Any traffic jams in {0}? |
How full are the roads in {0}? | Give me the traffic report for {0}. | How's the traffic in {0}? |
How's traffic in {0} right now? | How is the traffic in {0} at the moment? | How bad is the traffic in {0}? |
How heavy is the traffic in {0}? | How much traffic is there in {0}? |
How much traffic is there on the roads of {0}? | How does the traffic look in {0}? | What's the traffic like in {0}? |
What's the traffic like in {0} right now? | What is the traffic in {0} like today? |
What does the traffic report say about {0}? | Is the traffic bad in {0}? | Is the traffic heavy in {0}? |
Is the traffic in {0} moving? | Is there heavy traffic in {0}? | Is there a lot of traffic in {0}? |
Is there any traffic in {0} today? | Is there a jam in {0}? | Is there a jam on the roads of {0}? | Is {0} jammed? |
Are there jams in {0}? | Are there traffic jams in {0} now? | Are there any jams in {0} today? |
Where are the jams in {0}? | Are there delays on the roads in {0}? | What delays are there on the roads in {0}? |
Is there a delay on the roads of {0}? | How long is the delay on the roads in {0}? | Are the roads full in {0}? |
Are the roads of {0} free? | Are the roads clear in {0}? | Are the streets busy in {0}? |
Are the streets of {0} full of cars? | How busy are the roads in {0}? | How busy are the streets of {0}? |
How are the roads in {0}? | How are the streets in {0}? | Can I drive through {0} now, or are the roads full? |
Will I get stuck in traffic in {0}? | Do I get stuck in a jam in {0}? | I drive through {0}. How is the traffic? |
I drive to {0}. Is there much traffic? | I drive to work in {0}. Any jams? | I take the car to {0}. Are there jams? |
I am in the car in {0}. How is the traffic? | I am stuck in {0}. How bad is the traffic? |
I want to avoid jams in {0}. | I must cross {0} by car. How are the roads? | Check the roads in {0}. |
Check for traffic jams in {0}. | Check whether there are jams in {0}. | Look up the traffic in {0}. |
Look up the traffic report for {0}. | Show me the traffic in {0}. | Show the traffic jams in {0}. |
Get me the traffic for {0}. | Get the traffic report of {0}. | Give me the traffic in {0}. |
Tell me if there is a jam in {0}. | Tell me how the traffic is in {0}. | Tell me how busy the roads are in {0}. |
Let me know how the traffic is in {0}. | Find out how the traffic is in {0}. | I need the traffic report for {0}. |
I want to know the traffic in {0}. | In {0}, how is the traffic? | In {0}, are the roads busy? | {0} traffic |
{0} traffic now | traffic {0} | traffic report {0} | {0}: any jams? | The traffic in {0}, please. |
Traffic report for {0}, please. | Current traffic in {0}? | Are the cars in {0} moving at all? |
Are the streets clear in {0}? | Can I avoid the jams in {0}? | Queues on the streets of {0}? |
Can I drive through {0} quickly? | Congestion in {0}? | Cars stuck in {0}? | Do cars move in {0}? |
Rush hour in {0}? | The streets of {0}: crowded? | I drive to {0}. How are the roads? |
Street situation in {0}: cars | Delays for cars in {0}? | Roads of {0} free? | Driving in {0}: jams or free?"""),
    (
        Outcome(
            ("traffic", "level", "state", "status"),
            lambda s: s.any(("light", "heavy", "normal", "dense", "slow", "jammed")),
            "{}",
        ),
        Outcome(("delay_minutes", "delay", "minutes"), amount(0, 90), "delay {} minutes"),
    ),
    "Traffic in {0}: {o}.",
)

SUNSET = Concept(
    phrases("""get_sunset | sunset | sunset_time | sunset_in_city | find_sunset | sunset_lookup | getSunset |
when_sunset | check_sunset | fetch_sunset | sunset_today | city_sunset | sundown | sunset_at | show_sunset |
time_of_sunset | sunset_for_city | sunsetTime | get_sunset_time | lookup_sunset | read_sunset | sunset_info |
get_sundown | local_sunset | calculate_sunset | dusk_time | nightfall | daylight_end | sundownTime | last_light |
sun_gone | evening_light | dark_from | get_dusk | sunInfo | night_begins | daylightEnd | sun_down | twilight |
dusk_lookup | end_of_day_light"""),
    phrases("""Get the sunset in a city. | Sunset | Returns the time of the sunset. | When the sun sets |
Looks up the sunset. | Sunset times | The sunset of a place | Tells when the sun goes down. |
Gives the sunset of today. | Sundown | When it gets dark in a city | Time of the sunset in a town. |
Finds out when the sun sets in a city. | Sunset lookup by city. | Shows when it gets dark. | Sunset in a city |
Returns when the sun goes down in a place. | Use this to get the sunset. |
Use this tool when the user asks when it gets dark. | The time of sundown | Sunset today |
Fetch the time of sunset for a city. | Check the sunset of a place. | Calculates the sunset. | Local sunset time"""),
    (CITY,),
    phrases("""When is the sunset in {0}? | When does the sun set in {0}? | Sunset in {0}? |
What time is sunset in {0}? | When does it get dark in {0}? | When does the sun go down in {0}? |
Tell me the sunset in {0}. | At what time does the sun set in {0}? | How long is it light in {0}? |
Look up the sunset in {0}. | When's sunset in {0}? | When's the sunset in {0} today? | When is sunset in {0} today? |
When is sundown in {0}? | When will the sun set in {0}? | When will the sun go down in {0} today? |
When will it get dark in {0}? | When is it dark in {0}? | When does the sun set today in {0}? |
When does it become dark in {0}? | What time does the sun set in {0}? | What time does the sun go down in {0}? |
What time does it get dark in {0}? | What time is the sunset in {0} today? | What's the time of sunset in {0}? |
What is the time of the sunset in {0}? | At what time is sunset in {0}? | At what time is sundown in {0}? |
At what time does it get dark in {0}? | At what time does the sun go down in {0}? | How late is the sunset in {0}? |
How late does the sun set in {0}? | How long will it be light in {0}? | How long does it stay light in {0}? |
How long do we have light in {0}? | Until when is it light in {0}? | Until when is the sun up in {0}? |
How long is the sun up in {0} today? | Does the sun set late in {0}? When? | Does it get dark early in {0}? When? |
In {0}, when does the sun set? | In {0}, when does it get dark? | In {0}, what time is sunset? | {0} sunset |
{0} sunset time | sunset {0} | sunset time in {0} | {0}: when is sunset? | sundown {0} | The sunset in {0}, please. |
The time of sunset in {0}, please. | Sunset time for {0}? | Sunset today in {0}? | Get the sunset for {0}. |
Get me the sunset time of {0}. | Give me the sunset in {0}. | Give me the time of sunset in {0}. |
Show me the sunset time in {0}. | Check the sunset in {0}. | Check when it gets dark in {0}. |
Find the sunset time for {0}. | Find out when the sun sets in {0}. | Find out when it gets dark in {0}. |
Look up when the sun goes down in {0}. | Tell me when the sun sets in {0}. | Tell me when it gets dark in {0}. |
Tell me when the sun goes down in {0}. | Do you know when the sun sets in {0}? |
Do you know when it gets dark in {0}? | Can you tell me when sunset is in {0}? |
Could you find out when the sun sets in {0}? | I want to see the sunset in {0}. When is it? |
I want to watch the sun go down in {0}. When is it? | I want to take a photo of the sunset in {0}. When is it? |
I must be home in {0} before dark. When is sunset? | I walk through {0} this evening. When does it get dark? |
We sit on the beach in {0}. When does the sun go down? | I need the time of the sunset in {0}. |
I need to know when it gets dark in {0}. | I would like to know when the sun sets in {0}. | Dusk in {0}? |
Dusk in {0}, what time? | When is the sun gone in {0}? | Evening light in {0} until when? | Nightfall in {0}? |
When does daylight end in {0}? | The sun leaves {0} at what hour? | Last light in {0}? |
Sundown hour for {0}, please. | When do we lose the sun in {0}? | At what time does night fall in {0}?"""),
    (Outcome(("sunset", "time", "sets_at", "dark_at"), lambda s: f"{s.integer(15, 22)}:{s.integer(0, 59):02d}", "{}"),),
    "The sun sets in {0} at {o}.",
)

POPULATION = Concept(
    phrases("""get_population | population | city_population | population_of | find_population | getPopulation |
inhabitants | population_lookup | count_inhabitants | lookup_population | population_count | how_many_people |
check_population | get_inhabitants | cityPopulation | number_of_people | fetch_population | city_size |
show_population | population_in_city | read_population | people_in_city | get_city_population | populationOf |
census | head_count | residents_of | citizens_count | people_count | census_figure | resident_number |
inhabitantsNumber | demographics | city_residents | populationData | citizen_number"""),
    phrases("""Get the population of a city. | Population | Returns the number of inhabitants. |
How many people live in a city | Looks up the population. | Inhabitants of a city | City population |
Counts the inhabitants of a city. | Gives the population of a town. | Number of people in a city |
Tells how many people live in a place. | Census | Population lookup by city. | Finds the population of a place. |
Shows how many inhabitants a city has. | Inhabitants | Use this to get the population of a city. |
Use this tool when the user asks how many people live somewhere. | The population of a town | Population of cities |
Returns how many people a city has. | Census data of a city. | Number of inhabitants |
Fetch the number of people in a town. | How big the population of a city is"""),
    (CITY,),
    phrases("""How many people live in {0}? | What is the population of {0}? | Population of {0}? |
How many inhabitants does {0} have? | Tell me the population of {0}. | Look up the population of {0}. |
Number of inhabitants of {0}? | How large is the population of {0}? | How many people are there in {0}? |
Count the inhabitants of {0}. | Do many people live in {0}? | How many people are living in {0}? |
How many people does {0} have? | How many people have their home in {0}? | How many people live in the city of {0}? |
How many inhabitants has {0}? | How many inhabitants are there in {0}? | How many inhabitants live in {0}? |
How many inhabitants does the city of {0} have? | How big is the population of {0}? |
How high is the population of {0}? | What's the population of {0}? | What's the population of the city {0}? |
What population does {0} have? | What is {0}'s population? | {0}'s population? | {0} population | population {0} |
population of the city {0} | {0}: how many people? | {0}, how many inhabitants? | {0} inhabitants |
inhabitants of {0} | In {0}, how many people are there? | In {0}, how many people live there? |
What is the number of inhabitants of {0}? | What is the number of people in {0}? |
The number of people in {0}, please. | The number of inhabitants of {0}, please. |
Tell me the number of inhabitants of {0}. | Tell me the number of people in {0}. |
Tell me how many people live in {0}. | Tell me how many inhabitants {0} has. | Give me the population of {0}. |
Give me the number of inhabitants of {0}. | Get the population of {0}. | Get me the population of the city {0}. |
Find the population of {0}. | Find out how many people live in {0}. | Find out how many inhabitants {0} has. |
Find the number of inhabitants of {0}. | Look up how many people live in {0}. | Look up {0}'s population. |
Check the population of {0}. | Check how many inhabitants {0} has. | Show me the population of {0}. |
Show the number of inhabitants of {0}. | Do you know the population of {0}? |
Do you know how many people live in {0}? | Do you know how many inhabitants {0} has? |
Can you tell me the population of {0}? | Can you tell me how many people live in {0}? |
Could you look up the population of {0}? | Could you find out how many inhabitants {0} has? |
I need the population of {0}. | I need the number of inhabitants of {0}. |
I need to know how many people live in {0}. | I want to know the population of {0}. |
I wonder how many people live in {0}. | I would like to know how many people there are in {0}. |
I write about {0}. What is its population? | I move to {0}. How many people live there? |
I have never been to {0}. How many people live there? | My aunt lives in {0}. How many inhabitants does it have? |
For my homework: the population of {0}? | For school: how many people live in {0}? |
Do more than a million people live in {0}? | Does {0} have many inhabitants? | Does {0} have a large population? |
Is the population of {0} large? | How big is {0} by inhabitants? | Citizens of {0}: count |
How many citizens has {0}? | Head count of {0}? | Census figure for {0}, please. |
How crowded is {0}? Number of residents? | Residents in {0}? | Number of residents of {0}? |
People living in {0}: number? | Count the people of {0}. | {0} is home to how many? | Census: {0} |
Statistics: residents of {0}"""),
    (Outcome(("population", "inhabitants", "people", "count"), amount(1000, 999999), "{}"),),
    "{0} has {o} inhabitants.",
)
