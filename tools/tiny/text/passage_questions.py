"""The wordings of the questions about a sentence of a passage, by kind of sentence."""

from tools.tiny.text.source import phrases

WHERE = phrases("""Where is the {item}? | In which place is the {item}? | Where can I find the {item}? |
In which room is the {item}? | Where is the {adjective} {item}? | Tell me where the {item} is. |
I need the {item}. Where is it? |
Where do I find the {item}? | Which place has the {item}? | Where did they put the {item}? |
Where is the {item} kept? | In what room is the {item}? | The {item}, where is it? | Find the {item}. |
I am looking for the {item}. | Who knows where the {item} is? | The place of the {item}? |
Where should I look for the {item}? | Location of the {item}? | Where is that {adjective} {item}? |
I lost the {item}. | Where can the {item} be? |
Do you know where the {item} is? | Any idea where the {item} is? | Where did I leave the {item}? |
Where did somebody leave the {adjective} {item}? | I can't find the {item}. Where is it? |
I am searching for the {item}. Which room is it in? | Could you tell me where to find the {item}? |
Where would I find the {adjective} {item}? | Which room is the {item} in? | What room is the {adjective} {item} in? |
Which place is the {item} in? | The {item} is in which room? | The {item} is in what place? | The {item}: which room? |
The {item}: where? | {item} location | Location of the {adjective} {item}? | What is the location of the {item}? |
Give me the location of the {item}. | Give the place of the {item}. | Say where the {item} is. |
Say in which room the {item} is. | Where do they keep the {item}? | Where do we keep the {adjective} {item}? |
Where is the {item} right now? | Where must I look for the {item}? | Where do I look to find the {item}? |
In which place can I find the {adjective} {item}? | In what place did they put the {item}? |
Somebody put the {item} somewhere. Where? | I need to know where the {item} is. |
I want to know the place of the {item}. | I want the {adjective} {item}. Where do I find it? |
I would like to use the {item}. In which room is it? | We need the {adjective} {item}. Where is it? |
My friend is looking for the {item}. Where is it? | Someone lost the {item}. Where is it? |
I lost the {adjective} {item}. Where can it be? | Which room has the {item}? | Help me find the {item}. |
Find the {adjective} {item} for me. | Look for the {item}. Where is it? | Have you seen the {item}? |
Has anybody seen the {adjective} {item}? | I have not seen the {item} all day. Where is it? |
Where was the {item} put?""")
OWNER = phrases("""What is the name of {name}'s {animal}? | How is the {animal} of {name} called? |
What animal does {name} have? | Which pet has {name}? | Who is {pet}? | What does {name} own? |
Tell me about the pet of {name}. |
Does {name} have a pet? | What pet does {name} have? | Who has a {animal} called {pet}? | Name the pet of {name}. |
What do you know about {pet}? | {name} has which animal? | The {animal} of {name} has which name? | What is {pet}? |
Whose {animal} is {pet}? | Which name has the {animal} of {name}? | The name of the {animal}? | Who owns {pet}? |
Is there a {animal} called {pet}? |
What is the pet of {name} called? | What is the {animal} of {name} called? |
What is the name of the {animal} of {name}? | What is the name of the pet {name} has? |
What did {name} call the {animal}? | How does {name} call the {animal}? | {name} has a {animal}. What is its name? |
{name} has a pet. Which animal is it? | I met the {animal} of {name}. What is it called? |
I hear {name} has a pet. What is it called? | Which animal does {name} own? | Which animal belongs to {name}? |
What animal does {name} keep? | What kind of animal does {name} have? | What kind of pet is {pet}? |
What kind of animal is {pet}? | What sort of animal is {pet}? | Is {pet} an animal? | Who is the owner of {pet}? |
Who is the owner of the {animal}? | Who is the owner of the {animal} called {pet}? | Who has the {animal}? |
Who has {pet}? | Who owns the {animal}? | Who owns a {animal}? | Who keeps a {animal}? | To whom does {pet} belong? |
To whom does the {animal} belong? | {pet} belongs to whom? | The {animal} belongs to whom? | The owner of {pet}? |
The owner of the {animal}? | Name the owner of {pet}. | Name the {animal} of {name}. | Tell me who owns {pet}. |
Tell me the name of {name}'s {animal}. | Tell me what {name}'s pet is called. | Tell me about {pet}. |
Say the name of the {animal}. | Do you know the name of {name}'s pet? | Do you know who owns {pet}? |
Do you know what the {animal} is called? | Can you tell me whose pet {pet} is? | Whose pet is {pet}? |
Whose {animal} is it? | Which name does the {animal} have? | What name did {name} give the {animal}? |
what is {name}'s {animal} called | {name}'s pet? | {name}'s {animal}? | And the pet of {name}? |
And what about {name}'s {animal}?""")
JOB = phrases("""What is {name}'s job? | What does {name} do? | Where does {name} work? |
In which city does {name} work? | As what does {name} work? | Tell me the job of {name}. |
What work does {name} do? |
What is the job of {name}? | Which job has {name}? | How does {name} earn money? | What is the profession of {name}? |
{name} works as what? | Where is {name} employed? | In what city is {name} a {job}? | Who works in {city}? |
What about the work of {name}? | Name the job of {name}. | Who is a {job}? | The job of {name}? |
Which profession has {name}? | Who is {name}? |
What is {name} by profession? | What profession does {name} have? | What job does {name} have? |
What job does {name} do? | What is {name} working as? | What kind of work does {name} do? |
What kind of job does {name} have? | What does {name} work as? | What does {name} do for a living? |
How does {name} make a living? | Where does {name} work, and as what? | Where is {name} working? |
Where does {name} have a job? | Where is the job of {name}? | Where does {name} work as a {job}? |
Where is {name} a {job}? | In which city is {name} employed? | In which city is {name} a {job}? |
In which city does {name} have a job? | In what city does {name} work as a {job}? | Which city does {name} work in? |
What city does {name} work in? | What work does {name} do in {city}? | What does {name} do in {city}? |
What is {name}'s job in {city}? | What is {name}'s profession? | {name}'s job? | {name}'s profession? |
{name} is employed as what? | {name} does what work? | {name} works where? | {name} has which job? |
The profession of {name}? | The city where {name} works? | Who works as a {job}? | Who is the {job}? |
Who is the {job} in {city}? | Who is employed as a {job}? | Who has a job in {city}? | Who is working in {city}? |
Tell me what {name} does for a living. | Tell me in which city {name} works. | Tell me where {name} works. |
Tell me who works as a {job}. | Say what {name} works as. | Name the city where {name} works. |
Name the profession of {name}. | Do you know what {name} does? | Do you know where {name} works? |
I met {name}. What is the job? | I want to know what {name} does for a living. |
I am looking for a {job}. Who is one? | We need a {job}. Who works as one? | what does {name} do for work |
As what is {name} employed?""")
OPENS = phrases("""When does the {place} open? | At what time does the {place} open? |
What time does the {place} open? | Opening time of the {place}? | When can I enter the {place}? |
When is the {place} open? | Tell me when the {place} opens. |
When can people go to the {place}? | From what time is the {place} open? | When will the {place} open? |
The {place} opens when? | Opening hours of the {place}? | How early does the {place} open? |
When do they open the {place}? | What is the opening time of the {place}? |
I want to go to the {place}. When does it open? | At which hour does the {place} open? |
When does the {place} start? | The {place}, from when? |
When does the {place} open its doors? | When do the doors of the {place} open? |
At what time do the doors of the {place} open? | When are the doors of the {place} open? |
At what hour does the {place} open? | What is the opening hour of the {place}? |
What are the opening hours of the {place}? | What are the opening times of the {place}? |
What time do they open the {place}? | What time is the {place} open? | What time can I go to the {place}? |
What time can we enter the {place}? | The opening time of the {place}? | The opening hours of the {place}, please. |
The {place} is open from when? | The {place} opens at what time? | The {place}: opening time? |
The {place}: when does it open? | {place} opening time | {place} opening hours | opening time {place} |
From when is the {place} open? | From when can people enter the {place}? | From what hour is the {place} open? |
From which time can I go to the {place}? | How early can I enter the {place}? | How early can we go to the {place}? |
How early do they open the {place}? | How soon does the {place} open? | When can I go to the {place}? |
When can I visit the {place}? | When may we visit the {place}? | When can people enter the {place}? |
When can visitors enter the {place}? | When is the opening of the {place}? | When is the {place} opened? |
When will they open the {place}? | When will the {place} be open? | Do you know when the {place} opens? |
Do you know the opening time of the {place}? | Can you tell me the opening hours of the {place}? |
Tell me the opening time of the {place}. | Tell me from when the {place} is open. | Say when the {place} opens. |
Give me the opening time of the {place}. | Is the {place} open early? |
I want to visit the {place}. When does it open? | I want to visit the {place}. From when is it open? |
I need to go to the {place}. At what time does it open? | We are going to the {place}. What time does it open? |
I am waiting at the {place}. When will it open? | The {place} is still closed. When does it open? |
I stand in front of the {place} and it is closed. When will they open? |
It is closed now, but when does the {place} open? | I would like to know when the {place} opens.""")
COSTS = phrases("""How much is the {item}? | What does the {item} cost? | What is the price of the {item}? |
How expensive is the {item}? | Price of the {item}? | How many euros for the {item}? |
Tell me the price of the {item}. |
How much does the {item} cost? | What do I pay for the {item}? | How much do I pay for the {item}? |
What must I pay for the {item}? | The {item} costs what? | Which price has the {item}? |
How many euros is the {item}? | I want to buy the {item}. What does it cost? | Cost of the {item}? |
The price of the {item}? | Is the {item} expensive? | Say the price of the {item}. |
How many euros does the {item} cost? |
How much for the {item}? | How much do they want for the {item}? | How much money do I need for the {item}? |
How much money is the {item}? | How much will the {item} cost me? | How much will I pay for the {item}? |
How much must I pay for the {item}? | How much is it for the {item}? | {item} price | {item} cost |
What will the {item} cost? | What would the {item} cost me? | What is the cost of the {item}? |
What price does the {item} have? | What price do I pay for the {item}? | What price do they ask for the {item}? |
What do they ask for the {item}? | What do they want for the {item}? | What do you pay for the {item}? |
What should I pay for the {item}? | What money do I need for the {item}? | At what price do they sell the {item}? |
For how much do they sell the {item}? | For how many euros can I buy the {item}? |
For what price can I buy the {item}? | How many euros do I pay for the {item}? |
How many euros do I need to buy the {item}? | How many euros do they want for the {item}? | The {item} is how much? |
The {item} is how many euros? | The {item}: how much? | The {item}: which price? | The {item}, what is the price? |
The cost of the {item}, please. | Which price do I pay for the {item}? | Is the {item} cheap? |
Is the {item} cheap or expensive? | Can you tell me what the {item} costs? | Do you know what the {item} costs? |
Do you know the price of the {item}? | Tell me how much the {item} costs. | Tell me what I pay for the {item}. |
Tell me the cost of the {item} in euros. | Give me the price of the {item}. | Say how much the {item} is. |
Name the price of the {item}. | I want to buy the {item}. How much is it? |
I would like the {item}. What is the price? | I would like to buy the {item}. How many euros is it? |
We need the {item}. How much does it cost? | I take the {item}. What do I pay? |
I have little money. How expensive is the {item}? | I need to know the price of the {item}. |
They sell the {item}. For how much?""")
CODE = phrases("""What is the code of the {item}? | Code of the {item}? | Which code has the {item}? |
Tell me the code of the {item}. | Give me the {item} code. | How do I open the {item}? |
I forgot the code of the {item}. |
Which code opens the {item}? | The {item} has which code? | What code do I need for the {item}? |
With which code does the {item} open? | I need the code of the {item}. | The code of the {item}, please. |
Say the code of the {item}. | What is the {item} code? | How can I open the {item}? |
Do you have the code of the {item}? | Read me the code of the {item}. | Which code is for the {item}? |
The {item} is locked. What is the code? |
What's the code for the {item}? | code for the {item} | {item} code | the {item} code |
Which code do I need for the {item}? | Which code does the {item} have? | Which code belongs to the {item}? |
Which code do I type to open the {item}? | Which code unlocks the {item}? | What code unlocks the {item}? |
What code does the {item} have? | What code opens the {item}? | What code do I enter for the {item}? |
What code must I type for the {item}? | What must I enter to open the {item}? |
What must I type to unlock the {item}? | What do I need to open the {item}? | What is the code to open the {item}? |
What is the code that unlocks the {item}? | What is the {item}'s code? | With what code can I open the {item}? |
With which code can I unlock the {item}? | How do I unlock the {item}? | How can I unlock the {item}? |
How is the {item} opened? | How does the {item} open? | How do I get the {item} open? | The code for the {item}? |
The code of the {item} is what? | The {item}: which code? | The {item} wants a code. Which one? |
The {item} needs a code. What is it? | The {item} asks for a code. Which code do I enter? |
The {item} is locked. How do I open it? | The {item} is locked and I forgot the code. |
I cannot open the {item}. What is the code? | I can't open the {item}. Which code do I need? |
I can't unlock the {item}. What is the code? | I want to open the {item}. What is the code? |
I want to unlock the {item}. Which code do I type? | I don't know the code of the {item}. |
I do not remember the code of the {item}. | I have lost the code of the {item}. | I need to open the {item}. |
I need to unlock the {item}. | We need the {item} code. | We forgot the {item} code. What is it? |
Do you know the code of the {item}? | Do you know how to open the {item}? | Do you remember the code for the {item}? |
Can you give me the code of the {item}? | Can you tell me the code for the {item}? |
Could you tell me how to unlock the {item}? | Give me the code for the {item}. | Tell me which code opens the {item}. |
Tell me how to open the {item}. | Find the code of the {item}. | Help me open the {item}.""")
MEETING = phrases("""When is the {event}? | On which day is the {event}? | When is the {event} with {name}? |
Who comes to the {event}? | What is on {day}? | With whom is the {event}? | Which day is the {event}? |
What day is the {event}? | The {event} is on which day? | Who is at the {event}? | When do I meet {name}? |
When does the {event} take place? | When is {name} there? | The day of the {event}? | What happens on {day}? |
Who is with me at the {event}? | On what day do I see {name}? | What is planned with {name}? | Day of the {event}? |
When will the {event} be? | Is there a {event} with {name}? |
When do we have the {event}? | When do I have the {event}? | When do I have the {event} with {name}? |
When do I see {name}? | When do I meet with {name}? | When do we meet {name}? | When do {name} and I meet? |
When will I meet {name}? | When will I see {name}? | When does {name} come? | When is {name} coming? |
When am I meeting {name}? | What do I have on {day}? | What do we have on {day}? | What is there on {day}? |
What is happening on {day}? | What is planned for {day}? | What are my plans for {day}? |
What is in the calendar for {day}? | What does the calendar say for {day}? | What does the calendar say about {name}? |
What day is the {event} with {name}? | What day is planned for the {event}? | What day do I meet {name}? |
What day am I seeing {name}? | What do I have with {name}? | On what day is the {event}? |
On what day is the {event} with {name}? | On what day do we have the {event}? | On which day do I see {name}? |
On which day do I meet {name}? | On which day does {name} come? | On which day does the {event} take place? |
With whom do I have the {event}? | With whom do we have the {event} on {day}? | With whom do I meet on {day}? |
Who do I see on {day}? | Who do I meet on {day}? | Who do I meet at the {event}? | Who will I see at the {event}? |
Who will be at the {event}? | Who is coming to the {event}? | Who is coming on {day}? | Who comes on {day}? |
Who else is at the {event}? | The {event} with {name}: when? | The {event}: which day? | The {event} is when? |
The {event} is with whom? | {name} comes when? | {event} day | Do I have something on {day}? |
Do you know when the {event} is? | Do you know on which day the {event} takes place? |
Can you tell me when I meet {name}? | Tell me when the {event} is. | Tell me the day of the {event}. |
Tell me what is on {day}. | Tell me what is planned with {name}. | Tell me who comes to the {event}. |
Say on which day I meet {name}. | Look in the calendar: what is on {day}? |
Look in the calendar: when is the {event}? | I forgot when the {event} is. |
I forgot the day of the {event} with {name}. | Am I free on {day}? | I want to see {name}. When do we meet? |
I must prepare the {event}. When is it?""")
ABOUT = phrases("""What about {key}? | {key}? | {key} | Anything about {key}? | And {key}? | What of {key}? |
What does the text say about {key}? | Which sentence has {key} in it? | What is said of {key}? | Look up {key}. |
Where does it say {key}? | Find {key} in the text. | I need the line with {key}. | What did it say about {key}? |
Do you remember {key}? | {key}, please. | Now {key}. | Say something about {key}. | Next: {key} |
Is there something about {key}? | I want to hear about {key}. | Read me what it says about {key}. | {key}: what? |
Give me the sentence about {key}. | Give me what there is on {key}. | What was that about {key}? | Show {key}. |
What can you say about {key}? | Which part is about {key}? | Quote the line about {key}. | {key} is what? |
What do my notes say about {key}? | What is written about {key}? | Remind me of {key}. | Anything with {key}? |
How was it with {key}? | I forgot what it was with {key}. | So what is it with {key}? | Then what about {key}?""")
# Kinds of sentences that only training has: the sentence, then questions about it.
OTHERS = (
    phrases("""{name} lives in {city}. | Where does {name} live? | In which city does {name} live? |
Who lives in {city}? |
Who is from {city}? | Where is {name} at home? | What is the home of {name}? | {name} lives where? |
Whose home is {city}? | Is {city} the home of somebody? | Which city is home to {name}?"""),
    phrases("""{name} likes {food}. | What does {name} like? | Who likes {food}? | What does {name} like to eat? |
What should I cook for {name}? | What is the favourite food of {name}? | Who would eat {food}? |
{name} likes what? | For whom is the {food}? | What can I buy for {name}?"""),
    phrases("""{name} brings the {item} on {day}. | Who brings the {item}? | What does {name} bring? |
When does {name} bring the {item}? | On which day comes the {item}? | What comes on {day}? | Who has the {item} now? |
What will {name} bring? | Until when must I wait for the {item}? | When do we get the {item}? |
Who shows up on {day}?"""),
    phrases("""The {item} weighs {count} grams. | How heavy is the {item}? | What does the {item} weigh? |
What is the weight of the {item}? | How many grams does the {item} have? | The weight of the {item}? |
Is the {item} heavy? | What weighs {count} grams? | Which thing has {count} grams? |
How much does the {item} weigh?"""),
    phrases("""The {item} belongs to {name}. | Whose {item} is it? | Who owns the {item}? | What belongs to {name}? |
To whom must I return the {item}? | Who is the owner of the {item}? | What does {name} own? | Who has lost the {item}? |
Which thing is {name}'s? | The {item} is whose?"""),
    phrases("""The train to {city} leaves at {time}. | When does the train to {city} leave? | When can I go to {city}? |
Which train leaves at {time}? | Where does the train at {time} go? | How do I get to {city}, and when? |
At what time must I be there for {city}? | What leaves at {time}? | The train to {city} is when? |
When do we leave for {city}?"""),
    phrases("""The number of {name} is {code}. | What is the number of {name}? | Whose number is {code}? |
Which number has {name}? | How do I reach {name}? | Who is {code}? | Give me {name}'s number. |
Under which number can I find {name}? | What must I dial for {name}? | Who has the number {code}?"""),
    phrases("""{name} was born in {city} on a {day}. | Where was {name} born? | On which day was {name} born? |
Who was born in {city}? | Who was born on a {day}? | What is the birthplace of {name}? | Where does {name} come from? |
{name} was born where? | Which day of the week saw the birth of {name}? | From which city is {name}?"""),
    phrases("""The {place} closes at {time}. | When does the {place} close? | Until when can I stay in the {place}? |
At what time do they lock the {place}? | When is the {place} shut? | What closes at {time}? |
How late can I go to the {place}? | The closing time of the {place}? | When must I leave the {place}? |
How long is the {place} open?"""),
    phrases("""The {food} comes from {city}. | Where does the {food} come from? | What comes from {city}? |
Where is the {food} made? | From which city is the {food}? | Which food is from {city}? | Origin of the {food}? |
Who sends us the {food}, which city? | Where do we get the {food}? | What do they make in {city}?"""),
    phrases("""Page {count} of the book by {name} is about the {place}. | What is page {count} about? |
Who wrote about the {place}? |
Where can I read about the {place}? | On which page is the {place}? | Which page has the {place}? |
What did {name} write about? |
Whose book is about the {place}? | What stands on page {count}? | What do I find in the book by {name}?"""),
    phrases("""{name} meets us at the {place} at {time}. | Where do we meet {name}? | Who meets us at the {place}? |
What is there at {time}? | Who is at the {place} at {time}? | When do we meet at the {place}? |
When must I be at the {place}? |
Where does {name} wait for us? | Whom do we see at {time}? | Where must I go at {time}?"""),
)
