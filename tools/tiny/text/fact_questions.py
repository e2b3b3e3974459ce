"""The wordings of the questions about facts, one list for each kind of fact; {s} is the subject."""

from tools.tiny.text.source import phrases

CAPITAL = phrases("""What is the capital of {s}? | Capital of {s}? | Which city is the capital of {s}? |
Name the capital of {s}. | Tell me the capital of {s}. | What is {s}'s capital? | What is the capital city of {s}? |
Do you know the capital of {s}? | The capital of {s} is which city? | Which city governs {s}? |
Please tell me the capital of {s}. | Where is the government of {s}? | What is the main city of {s}? | {s}: capital? |
The capital of {s}? | I need the capital of {s}. | Say the capital of {s}. | {s} has which capital? |
Give me the capital of {s}. | Which capital has {s}? | Which capital city belongs to {s}? |
What do we call the capital of {s}? | In which city is the government of {s}? | {s} and its capital? |
Which town is the capital of {s}? | Can you name the capital of {s}? | Please remind me: the capital of {s}? |
I would like the name of {s}'s capital. | What's the capital of {s}? | what's {s}'s capital city |
Can you tell me what the capital of {s} is? | Do you know which city is the capital of {s}? |
I would like to know the capital of {s}. | {s} capital | {s} capital city? | capital city of {s} |
The capital city of {s}, please. | Name {s}'s capital city. | Name the city that is the capital of {s}. |
For {s}, what is the capital? | If I want to visit the capital of {s}, which city do I go to? |
I am learning capitals. Which one belongs to {s}? | Next country: {s}. What is its capital? |
My son asks about {s}. What is the capital? | Which city is {s} governed from? | From which city is {s} governed? |
What city does the government of {s} sit in? | The government of {s} sits in which city? |
In what city does the government of {s} work? | Which city is home to the government of {s}? |
Where does the government of {s} sit? | Where does {s} have its government? | In {s}, where does the government sit? |
Which city is the seat of government in {s}? | What is the seat of government of {s}? |
Where is the seat of government of {s}? | The main city of {s}, the capital? |
Name the main city of {s}, its capital. | Which town is the main city and capital of {s}? |
Which town is home to the government of {s}? | What is the capital of {s} called? |
What is the name of the capital of {s}? | What's the name of {s}'s capital city? | The capital of {s} is called what? |
I can't remember what the capital of {s} is. | Remind me what the capital of {s} is. |
Quiz question: the capital of {s}? | {s} is a country. Which city is its capital? |
When people talk about the capital of {s}, which city do they mean? | Tell me which city is {s}'s capital. |
Tell me which city governs {s}. | Which is the capital of {s}? | In {s}, which city is the capital? |
About {s}: what is the capital city called?""")
CONTINENT = phrases("""On which continent is {s}? | Which continent is {s} on? | Where is {s}? |
{s} is on which continent? | What continent is {s} part of? | Tell me the continent of {s}. |
In which part of the world is {s}? | Name the continent of {s}. | Continent of {s}? | {s} lies on which continent? |
In which continent is {s}? | Which continent has {s}? | {s}: continent? | Where on earth is {s}? |
To which continent does {s} belong? | Where does {s} lie? | Where can I find {s}? | The continent of {s}, please. |
{s} is where? | Give me the continent of {s}. | What part of the world is {s} in? | Look at the map: where is {s}? |
I want to know the continent of {s}. | {s} has its place on which continent? | For {s}, which continent is right? |
What continent is {s} in? | What continent is {s} on? | Which continent is {s} in? | {s} is in which continent? |
{s} is part of which continent? | {s} belongs to which continent? | What continent does {s} belong to? |
What is the continent of {s}? | what's the continent of {s} | {s} continent | On what continent does {s} lie? |
On which continent do I find {s}? | On which continent can you find {s}? |
Which continent do I travel to if I visit {s}? | I am flying to {s}. Which continent is that? |
I want to travel to {s}. On which continent is it? | If I look for {s} on the map, which continent do I look at? |
Where on the map is {s}? | Where on the map can I find {s}? | Where in the world is {s}? |
Where in the world do I find {s}? | Which part of the world does {s} belong to? |
{s} lies in which part of the world? | What part of the earth is {s} in? | On what part of the earth does {s} lie? |
Do you know on which continent {s} lies? | Do you know where {s} is? | Can you tell me which continent {s} is on? |
Can you tell me where {s} lies? | Tell me where {s} is. | Tell me on which continent {s} lies. |
Say on which continent {s} is. | Name the continent {s} belongs to. | Name the continent that {s} is part of. |
I need to know which continent {s} is on. | I would like to know where {s} is. | Where is {s} located? |
On which continent is {s} located? | {s} is located on which continent? | Country: {s}. Continent? |
The country is {s}. Which continent is it on? | My homework: which continent is {s} on? |
Of which continent is {s} a part? | Which of the continents is {s} on? |
What is the name of the continent where {s} lies? | The continent of {s} is called what?""")
COLOUR = phrases("""What colour is {s}? | What is the colour of {s}? | Which colour does {s} have? | Colour of {s}? |
Tell me the colour of {s}. | What color is {s}? | Name the colour of {s}. | Which colour is {s}? |
Do you know the colour of {s}? | {s}: colour? | {s} has which colour? | The colour of {s}? | Which color is {s}? |
Say the colour of {s}. | Give me the colour of {s}. | How is {s} coloured? | In which colour is {s}? |
What is the color of {s}? | Is {s} red or blue or what? | Describe the colour of {s}. | {s} is of what colour? |
What colour does {s} come in? | What's the colour of {s}? | what color is {s} usually | {s} color? | {s} colour |
color of {s} | What color does {s} have? | Tell me what colour {s} is. | Tell me what color {s} has. |
Can you tell me the color of {s}? | Can you say what colour {s} is? | Do you know what colour {s} is? |
Do you know which color {s} has? | Give me the color of {s}. | Name the color of {s}. | Name the colour that {s} has. |
I need the colour of {s}. | I would like to know what color {s} is. | I am painting {s}. Which colour do I need? |
I want to paint {s}. Which color do I take? | Which colour of paint do I need for {s}? |
What colour would you paint {s}? | If I draw {s}, what colour do I use? |
Which colour of pencil do I take to draw {s}? | My daughter is drawing {s}. What colour should it be? |
How should I colour {s} when I draw it? | Think of {s}. What colour do you see? |
When you see {s}, what colour is it? | What colour do you see when you look at {s}? | {s} is what color? |
{s} has what color? | {s} usually has which colour? | {s} comes in which colour? | What is {s}'s color? |
How is {s} usually coloured? | How does nature colour {s}? | How would you describe the colour of {s}? |
Describe the color of {s}. | Say what color {s} is. | Say which colour {s} has. |
Red, green, blue: what colour is {s}? | Is {s} green or white or which colour? |
Is {s} black or yellow or what colour? | Of what color is {s}? | The color of {s}, please. |
Normally {s} is of which colour? | The usual colour of {s}? | What is the normal color of {s}? |
In nature, which colour does {s} have?""")
OPPOSITE = phrases("""What is the opposite of {s}? | Opposite of {s}? | What is the contrary of {s}? |
Name the opposite of {s}. | Which word is the opposite of {s}? | Tell me the opposite of {s}. |
{s} is the opposite of what? | Give me the opposite of {s}. | What word means the opposite of {s}? | {s}: opposite? |
{s} and its opposite? | The opposite of {s}? | What is not {s}? | Say the opposite of {s}. |
The word {s} has which opposite? | Which word is contrary to {s}? | {s} has which opposite? |
{s} turned around is what? | Turn {s} around. | Turn {s} around: what is it then? |
Turn the word {s} around. Which word do you get? | If I turn {s} around, what do I get? | Turned around, {s} is what? |
What do I get when {s} is turned around? | What is {s} when you turn it around? | Which word is {s} turned around? |
If not {s}, then what? | Find the opposite of {s}. | What would be the opposite of {s}? |
What do we call the opposite of {s}? | Take the opposite of {s}. Which word is it? |
The word {s} turned into its opposite? | What's the opposite of {s}? | {s} opposite | opposite of the word {s} |
What is the opposite word for {s}? | Which word is opposite to {s}? | What is opposite to {s}? |
{s} is opposite to what? | {s} is the contrary of which word? | The contrary of {s}? | Name the contrary of {s}. |
Tell me the contrary of {s}. | Which word means the contrary of {s}? | The antonym of {s}? |
What is the antonym of {s}? | Give me the antonym of {s}. | Which word is the antonym of {s}? |
I need an antonym for {s}. | I need the opposite of {s}. | I need a word that means the opposite of {s}. |
I am looking for the opposite of {s}. | I want the opposite of the word {s}. |
I am learning opposites. What goes with {s}? | Opposites: {s} and what? | {s} and what are opposites? |
{s} is one word. What is the opposite? | My word is {s}. What is its opposite? |
Take the word {s}. What is its opposite? | Take {s} and turn it around. Which word is that? |
Turn the word {s} around to its opposite. | Can you tell me the opposite of {s}? |
Can you find a word that is contrary to {s}? | Do you know the opposite of {s}? |
Do you know a word that means the opposite of {s}? | What do you call the opposite of {s}? |
What do you say when it is not {s}? | If it is not {s}, what is it? | Not {s}, but what? |
Not {s} but the opposite: which word? | Say the word that is opposite to {s}. |
Tell me which word is the opposite of {s}. | Write the opposite of {s}. | How do you say the opposite of {s}? |
The opposite of {s} is what? | The opposite of {s} is which word? | What would you say is the opposite of {s}? |
When I say {s}, what is the opposite? | For the word {s}, what is the opposite?""")
YOUNG = phrases("""What is a young {s} called? | What do you call a baby {s}? | Name of a young {s}? |
What is the young of a {s}? | How is a baby {s} called? | What is a baby {s}? | A young {s} is called what? |
Give the name of a young {s}. | What is the word for a young {s}? | The young of a {s} is called what? |
{s}: its young? | What is the child of a {s} called? | How do you call a young {s}? | The name of a baby {s}? |
Say the word for a baby {s}. | What is a small {s} called? | What name has a young {s}? | {s} babies are called what? |
A baby {s} is called what? | What are young {s}s called? | What's a baby {s} called? | baby {s} name | baby {s}? |
young {s}: name? | What is a baby {s} called? | What is a little {s} called? | A little {s} is called what? |
A small {s} is called what? | What do you call a little {s}? | What do you call a young {s}? |
What do you call a small {s} that was just born? | What do you call a {s} when it is young? |
What do you call the young of a {s}? | What do you call the child of a {s}? | What do people call a baby {s}? |
What do they call a young {s}? | What is the baby of a {s} called? | The baby of a {s} is called what? |
The child of a {s} is called what? | What is the name for a young {s}? |
What is the name of a {s} that is still young? | Which name does a baby {s} have? | Which word means a young {s}? |
Which word means a baby {s}? | Which word do we use for a young {s}? | What is the right word for a baby {s}? |
what's the word for a baby {s} | Name the young of a {s}. | Name the baby of a {s}. | Tell me the name of a baby {s}. |
Tell me what a young {s} is called. | Tell me what you call a baby {s}. | Can you tell me what a baby {s} is called? |
Do you know what a young {s} is called? | Do you know the name of a baby {s}? | I need the word for a young {s}. |
I would like to know what a young {s} is called. | I saw a baby {s}. What is it called? |
I saw a {s} with its young. What is the young called? | A {s} has a baby. What is it called? |
A {s} has a child. What is the child called? | A {s} that was just born is called what? |
When a {s} is still a baby, what is it called? | When a {s} is young, what do we call it? | The word for a young {s}? |
The name for a young {s}, please. | Say the name of a young {s}. | Give me the word for a baby {s}.""")
LEGS = phrases("""How many legs does {s} have? | How many legs has {s}? | Legs of {s}? | Count the legs of {s}. |
Tell me how many legs {s} has. | What number of legs does {s} have? | On how many legs does {s} walk? |
{s} has how many legs? | Number of legs of {s}? | {s}: how many legs? | The number of legs of {s}? |
How many legs are on {s}? | Say how many legs {s} has. | How many legs can you count on {s}? |
With how many legs does {s} go? | How many legs do you see on {s}? | What is the number of legs of {s}? |
{s} walks on how many legs? | Say how many legs there are on {s}. | {s} usually walks on how many legs? |
How many legs are there on {s}? | {s} legs | {s} how many legs | How many legs does {s} walk on? |
How many legs does {s} stand on? | How many legs does {s} go on? | On how many legs does {s} stand? |
{s} stands on how many legs? | {s} goes on how many legs? | What is {s}'s number of legs? |
What's the number of legs on {s}? | Tell me the number of legs of {s}. | Tell me the number of legs that {s} has. |
Tell me how many legs are on {s}. | Give me the number of legs of {s}. | Give the number of legs {s} has. |
Say the number of legs of {s}. | Do you know how many legs {s} has? | Do you know the number of legs of {s}? |
Can you tell me how many legs {s} has? | Can you count the legs of {s}? | Count how many legs {s} has. |
If you count the legs of {s}, how many are there? | If I draw {s}, how many legs do I draw? |
I am drawing {s}. How many legs does it need? | I see {s}. How many legs does it have? |
Look at {s}. How many legs do you see? | Look at {s} and count its legs. | Think of {s}. How many legs are there? |
Here comes {s}. On how many legs does it walk? | With how many legs does {s} walk? | With how many legs is {s} born? |
The legs of {s}: how many are they? | The legs of {s}, how many? | Legs: how many has {s}? |
What number of legs has {s}? | Which number of legs does {s} have? | I need the number of legs of {s}. |
I would like to know how many legs {s} has. | My son asks how many legs {s} has. | How many legs can I count on {s}? |
In total, how many legs does {s} have? | Normally {s} has how many legs?""")
SOUND = phrases("""What sound does a {s} make? | What does a {s} say? | How does a {s} sound? |
Which noise does a {s} make? | What noise does a {s} make? | Sound of a {s}? | Tell me the sound of a {s}. |
What is the sound of a {s}? | {s}: which sound? | A {s} makes which sound? | A {s} says what? |
What do you hear from a {s}? | Which sound does a {s} make? | What is the noise of a {s}? | How does a {s} talk? |
Make the sound of a {s}. | The sound of a {s}? | How goes the {s}? | Give me the noise of a {s}. |
A child asks: what does a {s} say? | A hungry {s} says what? | My child wants to hear a {s}. What does it say? |
What sound do you hear from a {s}? | What noise do you hear from a {s}? | Which noise comes from a {s}? |
Which sound comes from a {s}? | {s} sound | {s} noise | sound a {s} makes | noise of a {s}? |
The noise of a {s}, please. | What's the sound of a {s}? | What's the noise a {s} makes? |
What is the sound a {s} makes? | What is the noise that a {s} makes? | How does a {s} go? | How does the {s} go? |
The {s} goes how? | What does the {s} say? | The {s} says what? | What does a {s} sound like? | What would a {s} say? |
What does a {s} say when it is hungry? | What do you hear when a {s} talks? | What do I hear when a {s} is near? |
When a {s} talks, what does it say? | When a {s} makes a noise, how does it sound? |
If you hear a {s}, what sound is it? | I hear a {s}. What does it say? | I hear a {s}. Which sound does it make? |
There is a {s} outside. What noise does it make? | Imagine a {s}. What sound does it make? | Talk like a {s}. |
Sound like a {s}. | Make a noise like a {s}. | Make the noise of a {s}. | Say what a {s} says. |
Say how a {s} sounds. | Tell me what a {s} says. | Tell me which noise a {s} makes. | Tell me how a {s} sounds. |
Name the sound of a {s}. | Give me the sound of a {s}. | Can you make the sound of a {s}? | Can you talk like a {s}? |
Do you know the sound of a {s}? | Do you know what a {s} says? | I want to hear the sound of a {s}. |
My child asks what a {s} says.""")
HOW_MANY = phrases("""How many {s}? | Tell me how many {s}. | Do you know how many {s}? | Can you say how many {s}? |
I forgot how many {s}. | Please tell me how many {s}. | How many {s}, please? | Say how many {s}. |
Count: how many {s}? | The number, please: how many {s}? | How many {s} again? | Remind me how many {s}. |
I want to know how many {s}. | I wonder how many {s}. | What is the number: how many {s}? |
Can you tell me how many {s}? | Exactly how many {s}? | Guess how many {s}. | The homework is: how many {s}? |
School question: how many {s}? | A quiz asks how many {s}. | Write the number: how many {s}? |
We have a quiz at school: how many {s}? | Do you remember how many {s}? | I would like to know how many {s}. |
I need to know how many {s}. | I do not know how many {s}. | I can't remember how many {s}. |
I am not sure how many {s}. | I always forget how many {s}. | Do you happen to know how many {s}? |
Can you remind me how many {s}? | Answer with the number: how many {s}? | Give me the number: how many {s}? |
Say the number: how many {s}? | Just the number: how many {s}? | My son asks how many {s}. |
My daughter wants to know how many {s}. | My teacher asked how many {s}. | Somebody asked me how many {s}. |
We have to say how many {s}. | Quiz: how many {s}? | A number question: how many {s}? |
What would you say, how many {s}? | What do you think, how many {s}? | Let me know how many {s}. |
Write down how many {s}. | Who knows how many {s}? | Everybody knows how many {s}. Do you? |
How many {s}? I need the number. | How many {s}? Tell me the number. | How many {s}? I forgot. |
How many {s}? Do you know? | How many {s}, do you think? | How many {s}, can you tell me? |
How many {s}? Give me a number. | For school: how many {s}? | For my homework, how many {s}? |
I learned it once: how many {s}? | Please count how many {s}. | Can you count how many {s}? |
If you count, how many {s}? | Can you guess how many {s}? | Make a guess: how many {s}?""")
PLANET = phrases("""Which planet is {s}? | What planet is {s}? | Name the planet that is {s}. |
Tell me which planet is {s}. | Which of the planets is {s}? | What is the planet that is {s}? |
Do you know which planet is {s}? | The planet that is {s}? | Which one of the planets is {s}? |
What is the name of the planet that is {s}? | One planet is {s}. Which? | Say which planet is {s}. |
Give me the planet that is {s}. | I look for the planet that is {s}. | Planet: {s}? | Who among the planets is {s}? |
Of the planets, which is {s}? | Of all planets, which one is {s}? | Of all the planets, one is {s}. Which one? |
Among the planets, which is {s}? | Among all planets, which one is {s}? | Which of all planets is {s}? |
Which of the eight planets is {s}? | Which planet, of all eight, is {s}? |
What is the name of the planet which is {s}? | What is the planet called that is {s}? |
What do we call the planet that is {s}? | What do you call the planet that is {s}? |
Give me the name of the planet that is {s}. | Tell me the name of the planet that is {s}. |
Tell me the planet that is {s}. | Tell me what planet is {s}. | Say the name of the planet that is {s}. |
Name the planet which is {s}. | Find the planet that is {s}. | Find out which planet is {s}. |
I need the planet that is {s}. | I need the name of the planet that is {s}. | I want to know which planet is {s}. |
I would like to know what planet is {s}. | I am looking for a planet. It is {s}. |
I am thinking of a planet. It is {s}. Which one? | I think of a planet that is {s}. Which one is it? |
There is a planet that is {s}. What is its name? | There is one planet that is {s}. Which is it? |
A planet is {s}. What is it called? | One of the planets is {s}. Which one? |
One of the planets is {s}. What is its name? | It is a planet and it is {s}. Which one? |
It is {s}. Which planet is it? | It is {s}. Name the planet. | This planet is {s}. What is its name? |
Can you name the planet that is {s}? | Can you tell me which planet is {s}? |
Do you know the name of the planet that is {s}? | Do you know what planet is {s}? | Guess the planet: it is {s}. |
Planet quiz: which one is {s}? | Look at the planets. Which one is {s}? | planet that is {s} |
{s}: which planet is it? | {s}, which planet is that? | {s} is which planet?""")
SYMBOL = phrases("""What is the chemical symbol of {s}? | Symbol of {s}? | Which symbol has {s}? |
What is the symbol for {s}? | Tell me the symbol of {s}. | Give the chemical symbol for {s}. |
How is {s} written in chemistry? | What symbol stands for {s}? | {s}: symbol? | The symbol of {s}? |
{s} has which symbol? | How do you write {s} in chemistry? | Chemical symbol: {s}? | Say the symbol of {s}. |
Give me the symbol of {s}. | What are the letters for {s}? | What is the short form of {s} in chemistry? |
Which letters stand for {s}? | I need the letters for {s}. | {s} symbol | {s} chemical symbol |
chemical symbol of {s} | symbol for {s}? | What's the symbol for {s}? | What's the chemical symbol of {s}? |
What is {s}'s symbol? | What is the chemical symbol for {s}? | What is the symbol of {s} in chemistry? |
What is the symbol of the element {s}? | Which chemical symbol does {s} have? | Which symbol does {s} have? |
What symbol does {s} have in chemistry? | Which symbol stands for {s}? | Which chemical symbol stands for {s}? |
What letters stand for {s}? | Which letters stand for {s} in chemistry? | Which letters mean {s} in chemistry? |
What stands for {s} in chemistry? | What does a chemist write for {s}? | What do chemists write for {s}? |
How do chemists write {s}? | How do I write {s} as a symbol? | What is the short form of {s}? |
Give me the short form of {s} in chemistry. | The short form of {s} in chemistry? |
In chemistry, what is the symbol of {s}? | In chemistry, how do you write {s}? | In chemistry, {s} is written how? |
In the periodic table, what stands for {s}? | What are the letters of {s} in the periodic table? |
How is {s} written in the periodic table? | Periodic table: what is the symbol of {s}? |
The element is {s}. What is the symbol? | The element {s} has which symbol? | Element: {s}. Symbol? |
Tell me the chemical symbol of {s}. | Tell me how {s} is written in chemistry. | Tell me the letters for {s}. |
Name the symbol of {s}. | Name the chemical symbol for {s}. | Do you know the symbol of {s}? |
Do you know the letters for {s}? | Can you tell me the chemical symbol for {s}? | I need the symbol for {s}. |
I forgot how {s} is written in chemistry. | Write {s} as a chemical symbol. | Write the symbol of {s}.""")
# Of a day or a month.
NEXT = phrases("""What comes after {s}? | Tell me what follows {s}. | {s}: what is next? | {s}, and then? |
What is next after {s}? | {s} is followed by what? | Say what comes after {s}. | After {s} comes what? |
Who follows {s}? | What do we have after {s}? | And after {s}? | Which one comes after {s}? |
What comes directly after {s}? | What comes right after {s}? | What will it be after {s}? |
When {s} is over, what comes? | When {s} ends, what is next? | When {s} is over, what follows? |
{s} is over. What comes next? | {s} ends. What follows? | Now it is {s}. What comes next? |
Now it is {s}. What comes after that? | It is {s} now. What is next? | First {s}, then what? |
First comes {s}. What comes then? | What comes next after {s}? | What comes next when {s} is over? |
What follows {s}? | What follows after {s}? | Which one follows {s}? | Which one is next after {s}? |
Which comes next after {s}? | What is the next one after {s}? | The next one after {s}? | The one after {s}? |
What do you call the one after {s}? | Name the one that comes after {s}. | Name the one that follows {s}. |
Name what comes after {s}. | Tell me what comes after {s}. | Tell me what is next after {s}. |
Tell me the one after {s}. | Say what follows {s}. | Say which one comes after {s}. |
Do you know what comes after {s}? | Do you know which one follows {s}? | Can you tell me what follows {s}? |
Can you say what comes after {s}? | after {s} | next after {s} | {s}: what comes after it? |
{s} comes first. Which one follows? | In the calendar, what comes after {s}? |
In the calendar, {s} is followed by what? | In the calendar, which one follows {s}? | After {s}, what is next? |
After {s} follows what? | Directly after {s} comes what?""")
NEXT_DAY = (
    *phrases("""What day comes after {s}? | Which day follows {s}? | What is the day after {s}? |
After {s} comes which day? | Next day after {s}? | Name the day after {s}. | The day after {s}? |
Today is {s}. What day is tomorrow? | Today is {s}. What is the next day? | If today is {s}, what day is tomorrow? |
What day is it tomorrow if today is {s}? | {s} is today. Which day comes tomorrow? |
It is {s} today. Which day is it tomorrow? | Which day is next after {s}? | Which day is right after {s}? |
Which day of the week comes after {s}? | Which day of the week follows {s}? | What day of the week is after {s}? |
In the week, which day follows {s}? | Tell me the day after {s}. | Do you know which day comes after {s}? |
After {s} follows which day? | {s} is followed by which day? | day after {s}"""),
    *NEXT,
)
NEXT_MONTH = (
    *phrases("""What month comes after {s}? | Which month comes after {s}? | Which month follows {s}? |
What month follows {s}? | What is the month after {s}? | What is the next month after {s}? |
Which month is next after {s}? | After {s} comes which month? | After {s} follows which month? |
{s} is followed by which month? | Next month after {s}? | Name the month after {s}. | The month after {s}? |
month after {s} | Tell me the month after {s}. | Tell me which month follows {s}. |
Do you know which month comes after {s}? | This month is {s}. What is the next month? |
This month is {s}. Which month is next? | If this month is {s}, which month comes next? |
We are in {s}. Which month comes next? | It is {s}. What will next month be? | In the year, which month follows {s}? |
Which month of the year comes after {s}? | What month of the year is after {s}? |
I know {s}. Which month of the year is next?"""),
    *NEXT,
)
LANGUAGE = phrases("""Which language is spoken in {s}? | What language do people speak in {s}? | Language of {s}? |
What is the language of {s}? | What do people in {s} speak? | Tell me the language of {s}. |
Which language do they speak in {s}? | Name the main language of {s}. | {s}: language? |
In {s} they speak which language? | What is spoken in {s}? | How do people talk in {s}? | The language of {s}? |
Say the language of {s}. | Which language has {s}? | What is the main language in {s}? |
What tongue do they speak in {s}? | What language is used in {s}? | I travel to {s}. Which language do they speak? |
I met a woman from {s}. Which language does she speak? | A man in {s} speaks which language? |
My friend is going to {s}. What do people speak there? | Say which language is spoken in {s}. |
He lives in {s}. Which language does he hear? | {s} language | language spoken in {s} |
What language is spoken in {s}? | What's the language of {s}? | What language do they speak in {s}? |
Which language do people talk in {s}? | Which language do people speak in {s}? | Which language is used in {s}? |
Which language do people use in {s}? | Which language do people in {s} speak at home? | What language does {s} use? |
What is the official language of {s}? | What is the official language in {s}? | Which language is official in {s}? |
The official language of {s}, please. | Which tongue is spoken in {s}? | Which tongue do people in {s} speak? |
What tongue is used in {s}? | What is the mother tongue of people in {s}? | In {s}, what language do people speak? |
In {s}, which language is spoken? | In {s}, what do people speak? | In {s} people talk in which language? |
I am going to {s}. Which language should I learn? | I am moving to {s}. What language do I need? |
I want to live in {s}. Which language do I have to learn? | I will travel to {s}. What language do I need? |
If I travel to {s}, which language do I hear? | What language do I hear in {s}? | What should I speak in {s}? |
Which language do I need in {s}? | Which language should I learn for {s}? |
My friend lives in {s}. Which language do people speak there? | I met a man from {s}. What language does he speak? |
What language does a person from {s} speak? | People from {s} speak which language? | People in {s} speak what? |
Name the language people speak in {s}. | Name the language of {s}. | Tell me what people speak in {s}. |
Tell me which language is spoken in {s}. | Tell me the main language of {s}. | Can you tell me the language of {s}? |
Do you know the language of {s}? | Do you know what they speak in {s}? | Give me the language of {s}. |
I would like to know what people in {s} speak. | In which language do people talk in {s}?""")
MATERIAL = phrases("""What is {s} made of? | From what is {s} made? | Which material is {s} made of? |
What do you make {s} from? | Tell me what {s} is made of. | What is used to make {s}? | Main material of {s}? |
{s} is made of what? | {s}: material? | The material of {s}? | {s} comes from what? | What is in {s}? |
Out of what is {s} made? | Say what {s} is made of. | What do they make {s} of? | Which stuff is {s} made from? |
From which material do you make {s}? | What is the material of {s}? | Can you name the material of {s}? |
What kind of material is {s} made of? | What's the material of {s}? | {s} is mostly made of what? |
Give the main material of {s}. | What's {s} made of? | what is {s} made from | {s} made of what |
{s} is made from what? | {s} is made out of what? | {s} is made from which material? | From what do you make {s}? |
From what material is {s} made? | Out of what do you make {s}? | Out of which material is {s} made? |
Of what is {s} made? | What material is {s} made of? | What material is {s} made from? |
What material do you use for {s}? | What material do you need for {s}? | What material do I need to make {s}? |
Which material is used for {s}? | Which material is used to make {s}? | Which material do they use to make {s}? |
Which stuff is {s} made of? | What stuff is {s} made out of? | What kind of stuff is {s} made of? |
What is used for making {s}? | What do you use to make {s}? | What do people make {s} out of? |
What do people use to make {s}? | What is the main material of {s}? | What is the main material in {s}? |
Tell me the material of {s}. | Tell me what you make {s} from. | Tell me from which material {s} is made. |
Name the material of {s}. | Name the material that {s} is made of. | Name the stuff {s} is made from. |
Give me the material of {s}. | Do you know what {s} is made of? | Do you know the material of {s}? |
Can you tell me what {s} is made from? | I want to make {s}. What do I need? |
I want to make {s}. Which material do I use? | I would like to know what {s} is made of. |
How is {s} made, from which material? | {s} material | From what does {s} come? | What does {s} come from? |
What does {s} consist of? | {s} consists of what? | Of what does {s} mainly consist? | What is mostly in {s}? |
What is mainly in {s}?""")
WORKPLACE = phrases("""Where does {s} work? | What is the workplace of {s}? | In which place does {s} work? |
Workplace of {s}? | Tell me where {s} works. | At what place does {s} work? | {s} works where? |
Where would you find {s} at work? | {s}: workplace? | The workplace of {s}? | Where is {s} at work? |
In what place can you see {s} at work? | Where does {s} go to work? | Where is the work of {s}? |
Where do you meet {s}? | Which place is the workplace of {s}? | Say where {s} works. | Where does {s} do the job? |
Say the workplace of {s}. | What's the place where {s} works? | Someone with the job of {s} works where? |
Place of work of {s}? | The place of work of {s}, please. | What is the place of work of {s}? |
What is {s}'s workplace? | What's the workplace of {s}? | What place does {s} work in? |
Which place does {s} work at? | In which place do you find {s} at work? | At which place does {s} do the job? |
Where can I find {s} at work? | Where can I meet {s}? | Where do you find {s} working? |
Where do I have to go to meet {s}? | Where do I go to see {s} at work? | Where do you see {s} at work? |
Where would I meet {s} at work? | Where is {s} working? | Where is the job of {s}? | Where is the workplace of {s}? |
Where does {s} spend the working day? | Where does {s} go in the morning to work? | Where does {s} usually work? |
To which place does {s} go to work? | {s} goes to work in which place? | {s} does the job where? |
{s} does the work in which place? | {s} has which workplace? | {s} works at what place? | {s} workplace |
{s} place of work | where {s} works | Tell me the workplace of {s}. | Tell me the place where {s} works. |
Name the workplace of {s}. | Name the place where {s} works. | Give me the workplace of {s}. |
Do you know where {s} works? | Do you know the workplace of {s}? | Can you tell me where {s} works? |
I would like to know where {s} works. | I want to become {s}. Where will I work? |
My brother is {s}. Where does he work? | My mother is {s}. Where does she go to work? |
My friend works as {s}. What is the workplace? | As {s}, where do you work? | If I become {s}, where do I work? |
With the job of {s}, in which place do I work?""")
