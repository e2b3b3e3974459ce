"""Lookups that give a text: search, translation, files, definitions."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, pick, text
from tools.tiny.text.lookup_fields import QUERY, RESULT
from tools.tiny.text.source import phrases

SEARCH = Concept(
    phrases("""search | web_search | search_web | find | lookup | google | query_web | internet_search | searchWeb |
search_internet | web_lookup | find_pages | search_engine | webSearch | do_search | query | find_web |
search_the_web | online_search | searchInternet | google_search | web_query | internet_lookup | search_online |
find_online | look_up | searchTool | search_pages | web_find | run_search | browse_web | research_topic |
surf_web | hunt_web | scan_internet | get_links | explore_online | article_search | browser_search |
collect_pages | linkFinder | dig_up | web_research | crawl_search | topicSearch | net_search"""),
    phrases("""Search the web. | Web search | Searches the internet. | Find pages about something |
Search for a text. | Looks something up. | Searches the web. | Search the internet. | Searches the web for a text. |
Internet search | Web search engine | Search for pages on the web. | Finds web pages. | Returns search results. |
Returns pages about a topic. | Search | Search engine | Runs a web search and returns the results. |
Search online for something. | Online search. | Finds information on the internet. | Looks up something on the web. |
Use this to search the web. | Use this tool to find information online. |
Find information about a topic on the web."""),
    (QUERY,),
    phrases("""Search for {0}. | Search the web for {0}. | Find pages about {0}. | Look up {0}. | Google {0}. |
Search {0} | Find something about {0}. | What does the web say about {0}? | Look for {0} online. |
Please search for {0}. | Web search: {0} | Do a search for {0}. | I want to read about {0}. | Get pages on {0}. |
What is on the web about {0}? | Search: {0} | Show results for {0}. | Query: {0} | I need information about {0}. |
Look on the internet for {0}. | Find {0} on the web. | Search the internet for {0}. | Search online for {0}. |
Search the web: {0} | Can you search for {0}? | Can you search the web for {0}? | I want to search for {0}. |
I would like you to search for {0} online. | Run a search for {0}. | Start a web search for {0}. |
Do a web search: {0} | Make a search for {0}. | A search for {0}, please. | Web search for {0}. |
Internet search: {0} | search web {0} | Use the search engine: {0} | Ask the search engine for {0}. |
Put {0} into the search engine. | Type {0} into the search box. | Google this: {0} | Can you google {0}? |
Please google {0} for me. | Let us google {0}. | Look up {0} online. | Look up {0} on the web. |
Look it up on the internet: {0} | Could you look up {0} for me? | I want to look up {0}. | Look on the web for {0}. |
Look for pages about {0}. | Look for {0} on the internet. | Find me pages about {0}. |
Find me something on the web about {0}. | Find web pages on {0}. | Find out about {0} online. |
Find information on {0}. | Find some information about {0}. | Find results for {0}. | Get me results for {0}. |
Get information about {0} from the web. | Get some pages about {0}. | What results are there for {0}? |
What can you find about {0}? | What can you find on the web about {0}? | What does the internet say about {0}? |
What do web pages say about {0}? | Which pages are there about {0}? | Which web pages tell me about {0}? |
Is there something on the web about {0}? | Is there anything online about {0}? | Are there any pages about {0}? |
Are there results for {0} on the web? | Show me pages about {0}. | Show me what the web has on {0}. |
Show me search results for {0}. | I am looking for {0}. Search the web. | I am looking for pages about {0}. |
I need a page about {0}. | I need to find {0} online. | I write a report and need pages on {0}. |
I know nothing about {0}. Search the web. | My search is {0}. | Search query: {0} | Search term: {0} |
About {0}: search the web. | Let me read something about {0} from the web. | Browse the web for {0}. |
Dig up something on {0}. | Research {0}. | Research on {0}, please. | Hunt the web for {0}. |
Web pages on {0}, please. | Check the internet for {0}. | Scan the web for {0}. | Open the search engine with {0}. |
Give me links about {0}. | Articles about {0}, from the web. | My browser should look for {0}. | Explore {0} online. |
Collect pages about {0}. | News and pages on {0}: search. | The web knows {0}. Look. | What hits are there for {0}? |
What hits do you get for {0}? | What links are there on {0}? | What sites are there about {0}? |
What articles are there on {0}? | What is there to read about {0}? | What can I read about {0}? |
What comes up for {0}? | What comes up when I search {0}? | What do you get when you search for {0}? |
What would a search engine find for {0}? | What has been written about {0}? | What news is there about {0}? |
What turns up under {0}? | Which results do you get for {0}? | Which links come up for {0}? |
Which articles mention {0}? | How many pages mention {0}? | Where on the web is something about {0}? |
Who writes about {0}? Look online. | Are there sites about {0}? | Are there articles on {0}? |
Is {0} mentioned anywhere online? | Let me read about {0}. | I'd like to read up on {0}. |
I would love to read something on {0}. | I want to learn more about {0}. Search. |
I want to know what is online about {0}. | I am curious about {0}. Look online. | I heard of {0}. Search for it. |
My topic is {0}. Find pages. | Read up on {0} for me. | See what the web says about {0}. |
See what you find for {0}. | Something on {0} from the web, please. | Anything on {0}? Search the web. |
Results on {0}, please. | The first results for {0}, please. | Pages about {0}? | Links on {0}? |
{0}: what is on the web? | {0}, search it."""),
    (Outcome(("title", "top", "first", "page", "hit"), words.phrase, "{}"),),
    "I found: {o}.",
)

TRANSLATE = Concept(
    phrases("""translate | translate_text | translator | to_language | translation | translateText | translate_to |
get_translation | translate_phrase | language_translate | make_translation | translate_sentence |
translate_to_language | text_translate | translateTo | translator_tool | get_translated_text | translate_word |
translate_into | do_translation | language_translator | translateSentence | run_translation | translation_tool |
convert_language | interpret | render_language | switch_language | say_in | interpreterTool | into_language |
lang_convert | language_change | phrase_translation | foreign_text | reword_in | speak_language | localise_text"""),
    phrases("""Translate a text. | Translator | Translates text to a language. | Turn text into another language |
Translation. | Says it in another language. | Translates a text. | Translates a text into another language. |
Translate text from one language to another. | Translates words and sentences. | Language translator |
Returns the translation of a text. | Text translation | Gives the translation of a phrase. |
Translation into any language | Translate | Translates to a language. | Writes a text in another language. |
Says a text in another language | Translates a sentence. | Use this to translate a text. |
Use this tool for translations. | Makes a translation. | Translates what you write to another language. |
Returns a text in the language you want."""),
    (
        Field(("text", "sentence", "input", "phrase", "source"), "string", text(words.phrase)),
        Field(("language", "target", "to", "lang", "target_language"), "string", text(pick(words.LANGUAGES))),
    ),
    phrases("""Translate {0} to {1}. | How do you say {0} in {1}? | What is {0} in {1}? | Translate into {1}: {0} |
Say {0} in {1}. | Please translate {0} into {1}. | {0} in {1}, please. | I need {0} in {1}. |
Translation of {0} to {1}? | Give me {0} in {1}. | Tell me the {1} for {0}. | {1} for {0}? | Put {0} into {1}. |
What does {0} mean in {1}? | To {1}: {0} | How would you write {0} in {1}? | Write {0} in {1}. | Make {0} {1}. |
Translate {0} into {1}. | Translate the text {0} to {1}. | Translate this to {1}: {0} |
Translate for me into {1}: {0} | Can you translate {0} to {1}? | Could you translate this into {1}? {0} |
I want to translate {0} into {1}. | I need to translate {0} to {1}. | Please translate to {1}: {0} |
{0}: translate it into {1}. | {0}, translated to {1}. | I want {0} translated into {1}. |
What is {0} translated into {1}? | Translate into the {1} language: {0} | Give me the {1} translation of {0}. |
What is the {1} translation of {0}? | I need a {1} translation of {0}. | Get the translation of {0} in {1}. |
Find the {1} translation for {0}. | Make a {1} translation of {0}. | Translation to {1}: {0} |
The translation of {0} into {1}, please. | Show me the {1} translation of {0}. | How do I say {0} in {1}? |
How would you say {0} in {1}? | How can I say {0} in {1}? | How do people say {0} in {1}? |
In {1}, how do you say {0}? | Say this in {1}: {0} | Could you say {0} in {1}? | I want to say {0} in {1}. |
Tell me how to say {0} in {1}. | How do you write {0} in {1}? | Write this in {1}: {0} | I have to write {0} in {1}. |
Put this into {1}: {0} | Please put {0} in {1}. | What's {0} in {1}? | What is the {1} for {0}? |
What is the {1} word for {0}? | What do you call {0} in {1}? | Do you know what {0} is in {1}? |
Tell me what {0} is in {1}. | What would {0} be in {1}? | In {1}, what is {0}? | In {1}, please: {0} | {0} in {1}? |
{0} in the {1} language, please. | Turn {0} into {1}. | Can you turn this into {1}? {0} |
I learn {1}. How do you say {0}? | I am learning {1}. What is {0}? | My friend speaks only {1}. How do I say {0}? |
My guest speaks {1}. Translate {0} for him. | I do not speak {1}. Translate {0} for me. | Let me have {0} in {1}. |
From English into {1}: {0} | How would a speaker of {1} say this: {0} | Render in {1}: {0} |
{1} version of this: {0} | Make a {1} version: {0} | My friend only reads {1}. Translate: {0} |
I learn {1}. How do I say {0}? | Give it to me in {1}: {0} | Interpret for me. Language {1}, text {0}. |
The {1} wording of {0}, please. | Turn this sentence into {1}: {0} | Change the language to {1}: {0} |
Put the words {0} into {1}. | Put the text {0} into {1}. | Put this text into {1}: {0} |
Put {0} in the {1} language. | Please put {0} into {1}. | Can you put {0} into {1}? | Could you put {0} into {1}? |
Bring {0} into {1}. | Change {0} into {1}. | Move {0} into {1}."""),
    (Outcome(("translation", "text", *RESULT), words.syllables, "{}"),),
    "In {1} it is: {o}.",
)

READ_FILE = Concept(
    phrases("""read_file | open_file | cat | file_read | load_file | get_file | readFile | file_open | show_file |
view_file | file_contents | get_text | read_text | file_reader | read_file_contents | get_file_text | getFile |
load_text | open_document | readFileText | file_text | show_file_contents | fetch_file | file_view | read_document |
file_load | file_show | view_document | peek_file | text_of_file | pull_file | fetch_document | read_disk |
extract_text | document_reader | contents_of | openDocument | screen_file"""),
    phrases("""Read a file. | File contents | Returns the text of a file. | Open a file | Reads text. |
Loads a file. | Reads a file. | Reads the contents of a file. | Returns the contents of a file. | Show a file |
Shows a file. | Opens a file and returns its text. | Open and read a file. | File reader | Gives the text of a file. |
Views a file. | Loads the text of a file. | Read a file from disk. |
Reads a file from the disk and returns its text. | Prints what is in a file. | Use this to read a file. |
Use this tool to look into a file. | Contents of a file | Get the contents of a file by its path. |
Load a file and show its contents."""),
    (
        Field(
            ("path", "file", "filename", "name", "file_path"),
            "string",
            text(lambda s: f"{s.one(words.COMMON)}.{s.any(('txt', 'md', 'csv', 'json', 'py', 'log'))}"),
        ),
    ),
    phrases("""Read {0}. | Open the file {0}. | What is in {0}? | Show me {0}. | Load {0}. | Print the file {0}. |
What does {0} say? | Please read the file {0}. | Show the contents of {0}. | Get the text of {0}. |
Give me the file {0}. | What does the file {0} contain? | What is written in {0}? | I want to see {0}. | View {0}. |
Read out {0}. | Tell me what {0} says. | Open {0}. | Read the file {0}. | Read me {0}. | Read {0} for me. |
Read the file {0} aloud. | Can you read {0}? | Could you read the file {0}? | I want to read {0}. |
I need to read the file {0}. | Let me read {0}. | Please read what is in {0}. | Read the contents of {0}. |
Read the text in {0}. | file {0} read | Open {0} and read it. | Open {0} for me. | Can you open {0}? |
Could you open the file {0} for me? | Please open {0}. | I want to open the file {0}. |
Open {0} and show me the text. | Open up {0}. | Show the file {0}. | Show me the file {0}. | Show me what is in {0}. |
Show me the contents of the file {0}. | Show me the text of {0}. | Could you show me {0}? | Let me see {0}. |
Let me see the file {0}. | Let me see what is in {0}. | I would like to see the contents of {0}. |
I need to see the text in {0}. | See what {0} says. | View the file {0}. | I want to view {0}. |
View the contents of {0}. | Look into {0}. | Look into the file {0}. | Look at {0}. What does it say? |
Take a look at the file {0}. | Have a look into {0}. | What is in the file {0}? | What's in {0}? |
What's inside {0}? | What is inside the file {0}? | What text is in {0}? | What does {0} contain? |
What are the contents of {0}? | What is written in the file {0}? | What does the file {0} say? |
Which text is in the file {0}? | What is there in {0}? | Tell me what is in {0}. | Tell me what is written in {0}. |
Tell me the contents of {0}. | I forgot what is in {0}. | I do not know what is in {0}. Open it. |
Give me the text of {0}. | Give me the contents of {0}. | Get the file {0}. | Get the contents of {0}. |
I need the file {0}. | I need the text in {0}. | Load the file {0}. | Load {0} and show it to me. |
Load the text of {0}. | Print {0}. | Print the contents of {0}. | The file {0}, please. |
The contents of {0}, please. | There is a file {0}. What does it say? | Somebody sent me {0}. What is in it? |
I saved my text in {0}. Open it. | cat {0} | Display {0}. | Fetch the text in {0}. | Pull up {0}. | Let me view {0}. |
Peek into {0}. | Display the document {0}. | Bring {0} on the screen. | Unfold {0} for me. |
From the disk, read {0}. | Extract the text of {0}. | I lost track of {0}. What does it contain? |
What does {0} hold? | What does {0} tell us? | What does {0} show? | What does my file {0} contain? |
What does the text {0} say? | What did I write in {0}? | What did they write in {0}? | What can I read in {0}? |
What stands in {0}? | What lines are in {0}? | Which lines does {0} contain? | Tell me what {0} contains. |
I want to know what {0} contains. | See what {0} contains. | Look up what {0} contains. | Show me my file {0}. |
Show me the whole file {0}. | Show me the lines of {0}. | Show me the inside of {0}. | Show {0}. | Show {0} to me. |
Show us {0}. | Show us the file {0}. | Let me look at {0}. | Let me look into {0}. | Let us see {0}. |
Let us see what is in {0}. | Give me {0} to read. | I need to read {0}. | I have to see {0}. | show {0} | open {0} |
view {0} | read {0} | {0}, open it. | {0}: what is in it? | {0}: show me the text."""),
    (Outcome(("text", "content", "data", "contents"), words.phrase, "{}"),),
    "The file {0} says: {o}",
)

DEFINE = Concept(
    phrases("""define_word | dictionary | define | word_meaning | get_definition | definition | lookup_word |
dictionary_lookup | getDefinition | meaning | find_meaning | explain_word | word_definition | defineWord |
meaning_of | get_meaning | word_lookup | find_definition | lexicon | show_definition | check_dictionary |
wordMeaning | definition_of | dictionary_entry | read_dictionary | lexicon_entry | vocabulary | glossary_entry |
word_sense | dictionaryEntry | describe_word | wordbook | understand_word | vocabLookup | sense_of |
term_definition | thesaurus"""),
    phrases("""Get the definition of a word. | Dictionary | Returns the meaning of a word. | Word meanings |
Defines a word. | Looks up a word in the dictionary. | The definition of a word | Gives the meaning of a word. |
Explains a word. | Dictionary lookup | What a word means | Definitions | Find the meaning of a word. |
Define a word. | Returns the dictionary entry of a word. | Explains what a word means. |
Word lookup in a dictionary. | Meaning of a word | Use this to define a word. |
Use this tool when the user asks what a word means. | Lexicon | Gives a definition from the dictionary. |
Reads the dictionary. | Tells the meaning of a term. | Word definitions"""),
    (Field(("word", "term", "text", "entry", "expression", "headword"), "string", text(pick(words.COMMON))),),
    phrases("""What does the word {0} mean? | Define {0}. | What is the definition of {0}? |
What is the meaning of {0}? | Look up {0} in the dictionary. | Define the word {0}. | Definition of {0}? |
Meaning of {0}? | What does {0} mean? | Give me the definition of {0}. | Tell me what {0} means. |
Explain the word {0}. | What's the meaning of {0}? | What's the meaning of the word {0}? |
Tell me the meaning of {0}. | Tell me the meaning of the word {0}. | I need the meaning of {0}. |
Find the meaning of {0}. | Find the meaning of the word {0}. | The meaning of {0}, please. |
What meaning does {0} have? | Which meaning has the word {0}? | Do you know the meaning of {0}? |
I do not know the meaning of {0}. | {0} meaning | meaning of the word {0} | Tell me what the word {0} means. |
Explain what {0} means. | I want to know what {0} means. | I would like to know what the word {0} means. |
Do you know what {0} means? | Can you tell me what {0} means? | Could you explain what the word {0} means? |
I forgot what {0} means. | Somebody said {0}. What does it mean? | I read the word {0}. What does it mean? |
I came across the word {0}. What does it mean? | The word {0}, what does it mean? | Can you define {0}? |
Could you define the word {0}? | Please define {0} for me. | How would you define {0}? |
How do you define the word {0}? | How is {0} defined? | define the term {0} | Get the definition of {0}. |
Get me the definition of the word {0}. | Find a definition of {0}. | I need a definition of {0}. |
I need the definition of the word {0}. | The definition of {0}, please. | Show the definition of {0}. |
{0}, definition | definition {0} | What's the definition of the word {0}? | What is the dictionary entry of {0}? |
Check the dictionary for {0}. | Check the word {0} in the dictionary. | Find {0} in the dictionary. |
Open the dictionary at {0}. | Is {0} in the dictionary? | Dictionary: {0} | Look up the word {0}. |
Look up the meaning of {0}. | Look up the definition of {0}. | Explain the term {0}. | Explain the meaning of {0}. |
Can you explain the word {0}? | What is meant by {0}? | What do people mean by {0}? | What does the term {0} mean? |
What is the meaning of the term {0}? | what does {0} mean, check the dictionary |
I never heard the word {0}. Explain. | Explain the expression {0}. | Vocabulary: {0} |
Look in the dictionary under {0}. | Lexicon entry for {0}, please. | The sense of the word {0}? |
Describe the word {0}. | A pupil asks about the word {0}. | Clarify the word {0}. |
What would a dictionary say for {0}? | The book uses the word {0}. What is it? | Unknown word: {0} |
Help me understand the word {0}. | Give the definition: {0} | How do we define {0}? | How is the word {0} defined? |
How is the term {0} defined? | How is {0} explained? | How is {0} described in the dictionary? |
How can {0} be defined? | How would a dictionary define {0}? | What is {0} defined as? | Which way is {0} defined? |
In what way is {0} defined?"""),
    (Outcome(("definition", "meaning", "sense", "text"), words.phrase, "{}"),),
    "{0} means: {o}.",
)
