"""Lookups about a way from one city to another: distance, train."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, text
from tools.tiny.text.source import phrases

DISTANCE = Concept(
    phrases("""distance | get_distance | find_route | distance_between | how_far | road_distance | measure_distance |
route_length | city_distance | getDistance | route | distance_lookup | trip_length | drive_distance |
calculate_distance | find_distance | distance_km | distanceBetween | compute_distance | city_to_city |
get_route_length | kilometres | km_between | distance_tool | check_distance | distance_from_to | howFar |
lookup_distance | travel_distance | road_length | miles_between | way_length | routeDistance | gap_km |
travel_length | measure_way | distanceKm | apart_by"""),
    phrases("""Distance between two cities. | Route length | Returns the distance. | How far it is | Distances. |
Measures a route. | Returns the distance between two cities. | The distance between two places |
Distance in kilometres | Tells how far two cities are apart. | Gives the distance from one city to another. |
How far two places are apart | Measures the distance between two towns. | Calculates how far it is. |
Length of a route | Route length in kilometres | How many kilometres it is from one place to another | Distance |
Find the distance between two places. | Looks up the distance between cities. | Use this to get a distance. |
Use this tool when the user asks how far it is. | Computes the length of a route. | Kilometres between two cities |
Get the distance by road."""),
    (
        Field(("from", "start", "origin", "a"), "string", text(words.city)),
        Field(("to", "end", "destination", "b"), "string", text(words.city)),
    ),
    phrases("""How far is it from {0} to {1}? | Distance from {0} to {1}? | How long is the way from {0} to {1}? |
What is the distance between {0} and {1}? | Is it far from {0} to {1}? | Route from {0} to {1}. |
How many kilometres from {0} to {1}? | Measure the way from {0} to {1}. | How many km from {0} to {1}? |
Find the way from {0} to {1}. | What is the way from {0} to {1}? | How far apart are {0} and {1}? |
I drive from {0} to {1}. How far is it? | Show the route from {0} to {1}. | From {0} to {1}, how far? |
Get the distance from {0} to {1}. | Tell me how far {1} is from {0}. | Way from {0} to {1}? |
How far is {1} from {0}? | How far is {0} from {1}? | How far is it to {1} from {0}? |
How far is the way from {0} to {1}? | How far apart are the cities {0} and {1}? |
How far do I drive from {0} to {1}? | How far must I drive from {0} to {1}? | How far would I walk from {0} to {1}? |
How far is the drive from {0} to {1}? | how far from {0} to {1} | From {0}, how far is it to {1}? |
From {0} to {1}, how far is it? | From {0} to {1}, how many kilometres? | From {0} to {1}, what is the distance? |
What's the distance from {0} to {1}? | What's the distance between {0} and {1}? |
What is the distance from {0} to {1}? | What distance is it from {0} to {1}? |
Which distance is between {0} and {1}? | The distance between {0} and {1}, please. |
The distance from {0} to {1}, please. | distance {0} {1} | distance {0} to {1} | {0} to {1}, distance? |
{0} to {1}: how far? | {0} to {1} in km? | Give me the distance from {0} to {1}. |
Give me the distance between {0} and {1}. | Tell me the distance from {0} to {1}. |
Find the distance between {0} and {1}. | Find the distance from {0} to {1}. | Look up the distance from {0} to {1}. |
Calculate the distance from {0} to {1}. | Compute the distance between {0} and {1}. |
Check the distance from {0} to {1}. | Measure the distance between {0} and {1}. |
Measure the distance from {0} to {1}. | I need the distance from {0} to {1}. |
I want to know the distance between {0} and {1}. | Tell me how far it is from {0} to {1}. |
Do you know how far it is from {0} to {1}? | Can you tell me how far {0} is from {1}? |
I wonder how far {1} is from {0}. | Find out how far it is from {0} to {1}. |
I need to know how far it is from {0} to {1}. | How many kilometres is it from {0} to {1}? |
How many kilometres are between {0} and {1}? | How many kilometres lie between {0} and {1}? |
How many kilometres is {1} from {0}? | How many km is it from {0} to {1}? |
How many km are there between {0} and {1}? | Tell me the kilometres from {0} to {1}. | Kilometres from {0} to {1}? |
How long is the route from {0} to {1}? | How long is the road from {0} to {1}? |
How long is the drive from {0} to {1} in km? | What is the length of the route from {0} to {1}? |
What is the length of the road from {0} to {1}? | Length of the route from {0} to {1}? |
Get the route from {0} to {1}. | Find a route from {0} to {1}. | The route from {0} to {1}, please. |
Is the road from {0} to {1} long? | Is it a long way from {0} to {1}? | Is it a long drive from {0} to {1}? |
Is {1} far from {0}? | Is {0} far away from {1}? | Are {0} and {1} far apart? | Is {0} close to {1}? How far is it? |
I go by bike from {0} to {1}. How far is it? | I live in {0} and work in {1}. How far is that? |
I am in {0} and want to go to {1}. How far is it? | We drive from {0} to {1}. How many kilometres is it? |
My car goes from {0} to {1}. How many km is that? | Length of the way from {0} to {1}? | Kilometres, {0} to {1}? |
I drive from {0} to {1}. How many kilometres? | How many miles from {0} to {1}? | Miles between {0} and {1}? |
Apart by how much: {0} and {1}? | How near is {0} to {1}? | Length of a trip from {0} to {1} in km. |
My bike tour goes from {0} to {1}. How far is that? | By road, {0} to {1}: how far? |
The way {0} - {1}, in kilometres. | Gap in km between the cities {0} and {1}? | Is {0} far off from {1}? |
Is {0} a long way from {1}? | Is {0} very far from {1}? | Is {0} near {1}? How far is it? |
Is {0} far from {1} by road? | Is {0} farther than a day from {1}? How far? | Are the towns {0} and {1} far apart? |
Are the cities {0} and {1} far from each other? | Give me the distance, {0} to {1}. |
Give me the road distance from {0} to {1}. | Give me the length of the way from {0} to {1}. |
Give the distance from {0} to {1}. | Get me the distance from {0} to {1}. |
Tell me the distance between {0} and {1}. | Let me know the distance from {0} to {1}. |
Let me know how far it is from {0} to {1}. | Show me the distance from {0} to {1}. |
Say how far it is from {0} to {1}. | I want the distance from {0} to {1}. | I walk from {0} to {1}. How far is it? |
I move from {0} to {1}. How far is that? | I travel from {0} to {1}. How many km is that? |
We go from {0} to {1}. How far is it? | A truck goes from {0} to {1}. How many km? |
The road from {0} to {1}: how long? | {0} - {1}: how far? | {0} {1} distance | {0} {1} km | {0} {1} how far |
km {0} {1} | distance {0}, {1} | distance between {0} and {1} | distance of {0} and {1} | route {0} {1} |
way {0} {1} | how far {0} {1}"""),
    (Outcome(("km", "distance_km", "distance", "kilometres"), amount(10, 9999), "{} km"),),
    "From {0} to {1} it is {o}.",
)

TRAIN = Concept(
    phrases("""next_train | train | get_train | train_times | find_train | trains | trainSchedule | train_schedule |
train_lookup | get_train_times | getTrain | search_trains | train_connection | rail_times | railway | show_trains |
check_train | train_timetable | timetable | fetch_trains | train_departures | train_search | nextTrain | rail_lookup |
train_info | railway_times | departure_board | commute_train | trainDeparture | express_times | platform_info |
rail_schedule | train_link | railQuery | station_departures | rail_departures | railSearch"""),
    phrases("""Find the next train between two cities. | Train times | Returns the next train. | Railway timetable |
Looks up trains. | When the next train leaves | Train connections | Finds a train from one city to another. |
Shows when a train leaves. | Timetable of the trains | Gives the departure of the next train. | Rail timetable |
Get train times. | Searches train connections. | Trains between two cities | Train search |
Departure times of trains. | Tells when the train goes and from which platform. |
Reads the timetable of the railway. | Trains | Use this to look up a train. |
Use this tool when the user asks for a train. | Next train by start and destination |
Check the departure of a train. | Returns departure and platform of a train."""),
    (
        Field(("from", "origin", "start", "from_city", "departure", "from_station"), "string", text(words.city)),
        Field(("to", "destination", "end", "to_city", "arrival", "to_station"), "string", text(words.city)),
    ),
    phrases("""When does the next train from {0} to {1} leave? | When is the next train from {0} to {1}? |
Next train from {0} to {1}? | Find a train from {0} to {1}. | Is there a train from {0} to {1}? |
When does the train from {0} to {1} go? | Which train goes from {0} to {1}? | Trains from {0} to {1}? |
I want to take the train from {0} to {1}. | Show me the trains from {0} to {1}. |
When can I take a train from {0} to {1}? | When's the next train from {0} to {1}? |
When's the next train to {1} from {0}? | When is there a train from {0} to {1}? |
When does a train leave {0} for {1}? | When does the train to {1} leave from {0}? |
When does the next train leave {0} for {1}? | At what time does the train leave {0} for {1}? |
At what time is the next train from {0} to {1}? | What time does the train from {0} to {1} leave? |
What time is the next train from {0} to {1}? | What is the next train from {0} to {1}? |
What trains go from {0} to {1}? | What trains are there from {0} to {1}? | Which trains go from {0} to {1}? |
Which is the next train from {0} to {1}? | Which train leaves {0} for {1}? |
From which platform does the train from {0} to {1} leave? | Which platform is the train from {0} to {1} on? |
What platform does the {1} train leave from in {0}? | Platform and time of the train from {0} to {1}? |
The next train from {0} to {1}, please. | The train from {0} to {1}, please. | A train from {0} to {1}, please. |
From {0} to {1} by train. | From {0} to {1} by rail, when? | By train from {0} to {1}: when? |
By rail from {0} to {1}? | {0} to {1} by train | train {0} to {1} | {0} {1} train | next train {0} to {1} |
trains from {0} to {1} today | Train from {0} to {1}. | Train times from {0} to {1}? |
Train times from {0} to {1}, please. | Give me the train times from {0} to {1}. |
Get me the next train from {0} to {1}. | Get the train times for {0} to {1}. |
Tell me when the next train goes from {0} to {1}. | Tell me when the train leaves {0} for {1}. |
Look up the train from {0} to {1}. | Look up trains to {1} from {0}. | Look in the timetable: {0} to {1} |
Check the timetable from {0} to {1}. | What does the timetable say for {0} to {1}? |
Timetable from {0} to {1}, please. | Check the trains from {0} to {1}. | Search for a train from {0} to {1}. |
Find me a train to {1} from {0}. | Find the next train from {0} to {1}. |
Find out when the train from {0} to {1} leaves. | I need a train from {0} to {1}. |
I need the next train to {1} from {0}. | I want to go from {0} to {1} by train. |
I would like to go by train from {0} to {1}. | I have to go from {0} to {1} by rail. |
I travel from {0} to {1} by train. When does it leave? | I am at the station in {0}. When is the next train to {1}? |
I am in {0} and need a train to {1}. | I missed my train from {0} to {1}. When is the next one? |
My train from {0} to {1} is gone. When is the next? | Are there trains from {0} to {1}? |
Are there any trains from {0} to {1} today? | Can I go from {0} to {1} by train? |
Can I get from {0} to {1} by rail? | Does a train go from {0} to {1}? | Does any train go to {1} from {0}? |
Do you have a train from {0} to {1}? | Do you know when the train from {0} to {1} leaves? |
Railway from {0} to {1}: next departure? | Rail link {0} to {1}? |
When do I have to be at the platform in {0} for {1}? | By rail from {0} to {1}, when? |
Platform {0}, heading for {1}. When? | Express from {0} to {1}: when? | Railway timetable: {0}, {1} |
Departure board: from {0} to {1} | Commuting from {0} to {1}. Train times? |
Is there a rail connection from {0} to {1}? | Soonest train, {0} to {1}. | First train out of {0} towards {1}?"""),
    (
        Outcome(("departure", "leaves", "time", "next"), words.clock, "train at {}"),
        Outcome(("platform", "track"), amount(1, 24), "platform {}"),
    ),
    "From {0} to {1}: {o}.",
)
