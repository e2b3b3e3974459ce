"""Everyday tools of a home: warmth, light, music, doors and floors."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, number, pick, switch, text
from tools.tiny.text.source import phrases

SET_TEMPERATURE = Concept(
    phrases("""set_temperature | thermostat | set_thermostat | heat | heating | set_room_temperature |
change_temperature | heat_room | room_temperature | temperature_set | setTemperature | set_heating |
setThermostat | adjust_temperature | adjust_heating | thermostat_set | heating_set | change_heating |
room_heating | climate_control | set_climate | temp_set | heater | set_heater | room_temp | heating_control |
setHeating | regulate_temperature | warm_room | thermostatSet | climate_set | radiator_set | heating_target |
degrees_set | tempControl | dial_temperature | heat_to | room_thermostat | temperature_target | airconSet |
warmth_control | climate | thermostat_control | set_degrees | target_temperature | setTargetTemp | hvac |
hvac_set | radiator_control | set_radiator | heatingTarget | roomClimate | update_thermostat | set_heat_level |
zone_temperature | air_conditioning | set_ac"""),
    phrases("""Set the temperature of a room. | Thermostat | Controls the heating. | Heat a room |
Room temperature. | Sets the thermostat. | Set the thermostat | Sets the temperature in a room. |
Set the heating of a room. | Changes the temperature. | Heating | Room temperature control. |
Controls the thermostat of a room. | Adjust the heating. | Heats or cools a room. | Thermostat for a room |
Set how warm a room is. | Change the temperature of a room | Temperature in degrees for a room. |
Makes a room warmer or colder. | Adjusts the thermostat. | Climate control."""),
    (
        Field(("room", "place", "zone", "where", "location", "room_name", "area"), "string", text(pick(words.PLACES))),
        Field(
            ("degrees", "temperature", "target", "celsius", "value", "temp", "target_temperature", "level"),
            "integer",
            number(10, 30),
        ),
    ),
    phrases("""Set the {0} to {1} degrees. | Heat the {0} to {1} degrees. | Make the {0} {1} degrees. |
Please set the temperature in the {0} to {1}. | {0}: {1} degrees | Turn the {0} heating to {1} degrees. |
I want {1} degrees in the {0}. | Bring the {0} to {1} degrees. | The {0} should have {1} degrees. |
Warm the {0} to {1} degrees. | Set {1} degrees in the {0}. | Cool the {0} to {1} degrees. |
Put the {0} at {1} degrees. | Temperature of the {0} to {1}. | I like {1} degrees in the {0}. |
Change the {0} to {1} degrees. | Let the {0} be {1} degrees. | Can you set the {0} to {1} degrees? |
Could you heat the {0} to {1} degrees? | set {0} to {1} degrees | {0} {1} degrees please |
Set the thermostat in the {0} to {1}. | Set the {0} thermostat to {1} degrees. |
Thermostat in the {0}: {1} degrees | Put the thermostat of the {0} at {1}. |
Put the heating in the {0} on {1} degrees. | Heating in the {0} to {1}, please. |
Set the heating in the {0} to {1} degrees. | Adjust the heating of the {0} to {1} degrees. |
Adjust the temperature in the {0} to {1}. | Change the temperature of the {0} to {1} degrees. |
I need {1} degrees in the {0}. | I want the {0} at {1} degrees. | I'd like the {0} to be {1} degrees. |
We want {1} degrees in the {0}. | The {0} must be at {1} degrees. |
The temperature in the {0} should be {1} degrees. | It should be {1} degrees in the {0}. |
Make it {1} degrees in the {0}. | Get the {0} to {1} degrees. | Keep the {0} at {1} degrees. |
Hold the {0} at {1} degrees. | {1} degrees in the {0}, please. | {1} degrees for the {0}. |
New temperature for the {0}: {1} | Temperature {1} in the {0}. |
Would you bring the temperature of the {0} to {1}? | Let's have {1} degrees in the {0}. |
Could we have {1} degrees in the {0}? | In the {0} I want {1} degrees. | For the {0}, set {1} degrees. |
Thermostat to {1} in the {0}. | My {0} should be at {1} degrees. |
Warm up the {0} to {1} degrees. | Cool down the {0} to {1} degrees. | Can you warm the {0} to {1} degrees? |
Could you cool the {0} to {1} degrees? | Get the heating of the {0} up to {1}. |
Turn the {0} down to {1} degrees. | Raise the {0} to {1} degrees. | Lower the {0} to {1} degrees. |
The {0} feels cold. {1} degrees, please. | Let the radiator in the {0} go to {1} degrees. |
Radiator in the {0}: {1} | Regulate the {0} to {1} degrees. | Aim for {1} degrees in the {0}. |
Guests are coming. The {0} needs {1} degrees. | Air conditioning in the {0} to {1}. |
Run the heater in the {0} until it has {1} degrees. | {1} degrees Celsius in the {0}, please. |
Have the {0} warmed to {1} degrees. | Would you heat up the {0}? {1} degrees. |
I am cold in the {0}. Go to {1} degrees. | The thermostat of the {0} belongs at {1}. |
Dial the {0} to {1} degrees. | Warmth in the {0}: {1} degrees | The {0} at {1} degrees would be pleasant. |
Make it cosy in the {0}, {1} degrees. | Program {1} degrees for the {0}. | {0}, {1} celsius. |
The heater of the {0} goes to {1}. | Let it be {1} degrees warm in the {0}. | Ease the {0} to {1} degrees. |
Give me {1} degrees in the {0}. | Push the heating of the {0} to {1} degrees. |
Please adapt the {0} thermostat: {1} degrees. | Increase the temperature of the {0} to {1} degrees. |
It is freezing in the {0}. Crank the heating up to {1}. | Let the {0} warm up to {1}. |
Turn the radiator in the {0} to {1} degrees. | Get it up to {1} degrees in the {0}. |
Raise the {0} to {1} degrees, please. | Heat up the {0} until it reaches {1} degrees. |
Might we have the {0} a bit different, say {1} degrees? | I'm shivering in the {0}. Heating to {1}, please. |
Switch the heater in the {0} to {1} degrees. | The heater of the {0} belongs at {1} degrees. |
{1} degrees is what I want for the {0}. | Temperature wish for the {0}: {1} degrees celsius |
Dial the {0} thermostat to {1}. | Air conditioning in the {0} to {1} degrees. |
Thermostat order: {0}, {1} degrees. | {0}: warm to {1} degrees | Target temperature for the {0} is {1}. |
Program the {0} heating for {1} degrees. | {1} degrees would be perfect in the {0}. |
Guests will sit in the {0}, so have it at {1} degrees. | As for the {0}, {1} degrees would be nice. |
{0} thermostat {1} | Room: {0}, temperature: {1} | Fix the temperature of the {0} at {1}. |
Ensure a temperature of {1} in the {0}. | Winter is here, so the {0} should get {1} degrees."""),
    (Outcome(("status", "state", "heating"), lambda s: s.any(("set", "ok", "on", "done")), "{}"),),
    "The {0} is {o} at {1} degrees.",
)

SET_LIGHT = Concept(
    phrases("""set_light | light | lights | switch_light | toggle_light | lamp | setLight | control_lights |
turn_light | light_switch | change_light | room_light | lights_set | switchLight | lightSwitch | set_lights |
turn_lights | toggle_lights | lamp_switch | switch_lamp | lighting | light_control | control_light | set_lamp |
smart_light | light_power | toggleLight | room_lights | lights_switch | illuminate | lamp_power | bulb_switch |
setBulb | room_lamp | light_toggle | lights_power | lampState | ceiling_light | switch_bulb | lighting_set |
brighten_room | light_on_off | power_light | set_light_state | lamp_control | set_bulb | bulbPower |
setLampState | flip_light | flip_switch | update_light | set_lighting | lightState | operate_light |
luminaire_switch | lampOnOff | illumination"""),
    phrases("""Switch a light. | Light switch | Turns a light on or off. | Controls the lights | Lights. |
Switch lights in a room. | Turn a light on or off. | Switches the lights. | Light |
Switch the light in a room. | Switch a lamp on or off | Turns the lamp in a room on or off. |
Lights on or off. | Light control | Controls a lamp. | Set the light of a room | Room light switch. |
Lighting control. | Turns lights on and off. | Lamp control for a room. | Toggle the lights in a room. |
Switches one light."""),
    (
        Field(("room", "place", "where", "zone", "location", "room_name", "lamp"), "string", text(pick(words.PLACES))),
        Field(
            ("on", "state", "active", "enabled", "power", "switched_on", "turn_on", "light_on"),
            "boolean",
            switch("on", "off"),
        ),
    ),
    phrases("""Turn {1} the light in the {0}. | Switch {1} the {0} light. | {0} light {1}, please. |
Turn the {0} light {1}. | Light {1} in the {0}. | Please turn the light in the {0} {1}. |
I want the {0} light {1}. | Lights {1} in the {0}. | Put the {0} light {1}. |
The light in the {0} should be {1}. | {0} lights {1} | Set the {0} light to {1}. |
Make the light in the {0} go {1}. | Light {1}: {0} | The {0} lamp {1}, please. | Change the {0} light to {1}. |
Let the {0} light be {1}. | Can you turn {1} the lights in the {0}? | Could you switch the {0} light {1}? |
turn {1} {0} light | lights {1} {0} | {0} lamp {1} | Turn {1} the {0} lights. |
Turn the lights {1} in the {0}. | Turn the lamp in the {0} {1}. | Switch {1} the lights in the {0}. |
Switch the lights in the {0} {1}. | Switch the lamp in the {0} {1}. | Switch {1} the lamp in the {0}. |
I want the lights in the {0} {1}. | I need the {0} light {1}. | I need the light {1} in the {0}. |
I'd like the lamp in the {0} {1}. | I'd like the {0} lights to be {1}. | The {0} lights should go {1}. |
The lights in the {0} must be {1}. | The lamp in the {0} should be {1}. | Can the light in the {0} go {1}? |
Would you turn the {0} lamp {1}? | Put {1} the light in the {0}. | Have the lights in the {0} {1}. |
Set the lights in the {0} to {1}. | In the {0}, turn the light {1}. | In the {0}: lights {1} |
For the {0}: light {1} | Flip the {0} light {1}. | Flip the light switch in the {0} to {1}. |
Light switch in the {0}: {1} | Lamp {1} in the {0}, please. | Light in the {0}: {1} | Get the {0} lights {1}. |
Could I have the {0} light {1}? | Keep the light in the {0} {1}. | It is dark in the {0}. Lights {1}. |
Lamps {1} in the {0}. | I want the lamps of the {0} {1}. | Illumination in the {0}: {1} |
Put the lamp of the {0} {1}. | The {0} lighting should be {1}. | Click the light {1} in the {0}. |
Someone is in the {0}. Lights {1}. | Make the lamp of the {0} go {1}. | The ceiling light in the {0} goes {1}. |
{1} with the light in the {0}. | {1} with the lamps in the {0}, please. | Get the lights {1} in the {0}. |
I leave the {0} now, so lights {1}. | Toggle the {0} lamp: {1} | Smart bulb {0}: {1} |
Light switch of the {0}: {1} | Room {0}, lights {1}. | All lamps in the {0} {1}, please. |
Should the {0} light be {1}? Yes, do it. | State of the {0} light: {1} | Power for the {0} lamp: {1} |
The lights, {0}: {1} | Control the light in the {0}: {1} | Please see that the {0} light is {1}. |
Would you put the {0} light {1}? | We want the {0} lamps {1}. | Move the {0} light switch to {1}. |
We need the lamps in the {0} {1}. | The lamp of the {0} has to go {1}. | {0} lightbulb -> {1} |
Toggle the {0} lamp to {1}. | My wish for the {0} is lights {1}. | About the {0} light: turn it {1}. |
Please have the {0} lamp turned {1}. | That lamp in the {0}, turn it {1}. | Flick {1} the lamp in the {0}. |
See that the light in the {0} is {1}. | {0}: all bulbs {1} | Press the light switch in the {0} so it says {1}. |
For my eyes, have the {0} light {1}. | I am leaving. The {0} light goes {1}. | Snap the lights {1} in the {0}. |
Will you get the light {1} in the {0}? | As for the {0} lamp, switch it {1}. |
Check that the {0} lamp is {1}, and if not, switch it. | The bulb in the {0}: {1} |
The {0} lights, can you switch them {1}? | {1}, that is how the {0} lights should be. |
The light in the {0}, I want it {1}. | Might I ask you to turn the {0} light {1}? | Smart bulb in the {0}: {1} |
New state for the {0} light: {1}"""),
    (Outcome(("status", "state", "light"), lambda s: s.any(("done", "ok", "changed")), "{}"),),
    "The {0} light is {1}: {o}.",
)

PLAY_MUSIC = Concept(
    phrases("""play_music | play | play_song | music | player | start_music | playMusic | music_play |
start_song | play_track | song | music_player | playSong | music_start | startMusic | listen | play_audio |
play_title | play_tune | tune_player | song_play | audio_player | play_media | stream_music | stream_song |
start_playback | track_play | put_on_music | jukebox | songPlay | audio_start | spin_record | music_stream |
listen_to | media_play | launch_song | queue_song | sound_play | hear_song | playback | begin_playback |
track_player | stereo | audioJukebox | launch_track | audio_play | songPlayer | spotify_play | put_song_on |
sound_system_play | request_song | dj | musicRequest | play_record"""),
    phrases("""Play music. | Music player | Plays a song. | Play a song by name | Starts the music. |
Plays something. | Play a song | Plays music by its title. | Music | Start a song. | Plays a track. |
Song player | Puts on a song. | Listen to music | Listen to a song by its title. | Streams a song. |
Audio player. | Plays one song. | Start to play a song. | Plays the music you want. | Play a track by title |
Use this to play music."""),
    (
        Field(
            ("song", "title", "track", "query", "name", "song_title", "song_name", "music"),
            "string",
            text(words.phrase),
        ),
    ),
    phrases("""Play {0}. | Play the song {0}. | Put on {0}. | I want to hear {0}. | Start the song {0}. |
Please play {0}. | Can you play {0}? | Let me hear {0}. | Music: {0} | The song {0}, please. | Start {0}. |
I like {0}. Play it. | Play some {0}. | Play me {0}. | I feel like {0}. Play it. | Give me the song {0}. |
Turn on the song {0}. | Next song: {0} | Could you play {0}? | Can you put on {0}? | Can I hear {0}? | play {0} |
play the song {0} | song {0} | put on the song {0} | Play the track {0}. | Put on the track {0}. |
Put on some music: {0} | Play some music: {0} | Play this song: {0} | Play the music {0}. | Play a song called {0}. |
Play the song with the title {0}. | Find the song {0} and play it. | Start the track {0}. | Start playing {0}. |
Start the music: {0} | I want to listen to {0}. | I want to listen to the song {0}. | I'd like to hear the song {0}. |
I'd love to hear {0}. | I am in the mood for {0}. Play it. | I love the song {0}. Put it on. |
My favourite song is {0}. Play it. | Let's listen to {0}. | Let's hear the track {0}. | Listen to {0}. |
Now play: {0} | Next track: {0} | Next, play the song {0}. | Would you play the track {0}? |
Time for some music. Play {0}. | We want to dance. Play {0}. | The track {0}, please. | Some music, please: {0} |
{0} is a nice song. Play it. | How about the song {0}? | I am in the mood for {0}. | On the speakers: {0} |
Spin the record {0}. | Blast {0}. | Stream {0}. | My favourite tune is {0}. Start it. | Background music: {0} |
Let me listen to {0}. | Hit play on {0}. | Press play: {0} | Cue {0}. | Queue up {0}. | Run the song {0}. |
Tune: {0} | The DJ should put on {0}. | For the party, play {0}. | Turn on {0}, I want to hear music. |
Open the music app with {0}. | Some tunes, please: {0} | Fill the house with {0}. | Let's have the tune {0}. |
Sound system: {0} | Continue with the song {0}. | Jukebox: {0} | Choose the track {0}. | My ears want {0}. |
Cue the track {0}. | Hit play: {0} | Choose this track for me: {0} | My request for the player: {0} |
Begin playback of {0}. | Do you have the song {0}? Then play it. | The party starts, so the first song is {0}. |
Music time: {0} | Throw on the tune {0}. | My music wish is {0}. | tune in my ears: {0} | hey, play the tune {0} |
Stream the song {0}. | For the dinner, some music: {0} | {0}: play this song. | Might I hear the tune {0}? |
May I listen to {0}? | {0}. Let me hear that song. | I'm dying to hear the song {0}. | Press play on the song {0}. |
Is it possible to hear the song {0}? | Let the music begin: {0} |
It has been ages since I heard {0}. Play it for me. | Get some music going: {0} | It's so quiet here. Play {0}. |
May we have some music, namely {0}? | Entertain us with the song {0}. | We want to sing. Play {0}. |
We want to party. Play {0}. | We want to hear music. Play {0}. | We want music. Put on {0}. | We like {0}. Play it. |
We are dancing. Play {0}. | I want to dance. Play {0}. | I am happy. Play {0}. | I am tired. Play {0}. |
I need music. Play {0}. | The guests want to dance. Play {0}. | The children want to hear {0}. |
The kids want to dance to {0}. | My friends want {0}. Play it. | My mother likes {0}. Play it. |
Let us dance to {0}. | Let us have {0} on. | It is party time. Play {0}. | Now the song {0}. |
Now I want to hear {0}. | Next, put on {0}. | {0} once more, please. | {0}, please. Play it. |
{0} is my song. Play it. | Start with {0}. | Start the player with {0}. | Play it again: {0} | Play {0} for us. |
Play {0} for me. | Play {0} now. | Play us {0}. | Play us the song {0}. | Play my favourite, {0}. |
Play the hit {0}. | Play the record {0}. | Play the album {0}."""),
    (Outcome(("status", "state", "player"), lambda s: s.any(("playing", "ok", "started")), "{}"),),
    "{0} is {o}.",
)

SET_VOLUME = Concept(
    phrases("""set_volume | volume | change_volume | sound | set_sound | loudness | set_loudness | volume_set |
setVolume | sound_level | volume_level | change_sound | adjust_volume | volume_control | audio_volume |
speaker_volume | sound_volume | set_audio | set_speaker | loudness_set | control_volume | setSound |
music_volume | change_loudness | update_volume | volume_change | volumeSet | audioVolume | sound_level_set |
knob_turn | mixer_set | volume_dial | audio_gain | speakerVolume | regulate_sound | tune_volume | level_audio |
volume_to | sound_adjust | loudness_control | vol | set_vol | set_loudspeaker | raise_or_lower_sound |
sound_slider | volumeSlider | noise_level | output_volume | set_gain | mixer_level | setSoundLevel |
device_volume | apply_volume | speaker_sound | volumePercent"""),
    phrases("""Set the volume. | Volume control | Changes the volume. | Make it louder or quieter |
Sound level. | Controls the sound. | Set the volume | Sets the sound level. | Change the volume. |
Adjusts the volume. | Volume | Sets how loud it is. | Sound volume. | Turns the volume up or down. |
Controls the loudness. | Changes the sound level. | Volume of the speaker | Loudness control. |
Set the loudness. | Makes the sound louder or quieter. | Volume level in percent. | Adjust the sound."""),
    (
        Field(
            ("level", "volume", "percent", "value", "loudness", "sound_level", "volume_percent"),
            "integer",
            number(0, 100),
        ),
    ),
    phrases("""Set the volume to {0}. | Volume {0}. | Turn the sound to {0} percent. | Make the volume {0}. |
Please set the sound to {0}. | I want volume {0}. | Change the volume to {0}. | Sound level {0}, please. |
Put the volume at {0}. | Turn it to {0}. | Sound to {0}. | The volume should be {0}. | Volume to {0} percent. |
Set the sound level to {0}. | Play at volume {0}. | Louder or quieter: {0} | Go to volume {0}. |
Can you set the volume to {0}? | Could you turn the volume to {0}? | volume {0} percent | set volume {0} |
sound {0} percent | Turn the volume to {0} percent. | Turn the sound to {0}. | Turn the speaker to {0}. |
Turn the music to volume {0}. | Set the sound to {0} percent. | Set the speaker volume to {0}. |
Set the loudness to {0}. | Set the music to {0} percent volume. | Put the volume on {0}. |
Put the sound at {0} percent. | Put the speaker at {0} percent. | Change the sound level to {0}. |
Change the loudness to {0} percent. | Adjust the volume to {0}. | Adjust the sound to {0} percent. |
Bring the volume to {0}. | Bring the sound level to {0} percent. | Make the sound level {0}. |
I need the volume at {0}. | I'd like the volume at {0} percent. | I'd like the sound at {0}. |
I want the sound level at {0}. | I want the speaker at volume {0}. | The sound should be at {0} percent. |
The speaker should play at {0} percent. | The loudness should be {0}. | My music should play at volume {0}. |
New volume: {0} | New sound level: {0} | Speaker volume to {0}, please. | Loudness {0}, please. |
Volume at {0} percent, please. | Would you put the volume to {0}? | Let's have the volume at {0}. |
Let the speaker play at {0} percent. | How about volume {0}? | {0} percent volume, please. |
Too quiet. Make it {0}. | Too loud. Go down to {0}. | Louder, up to {0}. | Softer, down to {0}. |
The neighbours complain. Volume {0}. | Speaker at {0}, please. | Speakers to {0} percent. |
I can't hear it. Volume {0}. | Raise the sound to {0}. | Lower the sound to {0}. | Crank it to {0}. |
Turn the noise down to {0}. | Volume knob to {0}. | Sound at {0}, please. | Let the loudspeaker be at {0}. |
Make the speakers play at {0}. | The audio should be at {0}. | {0} percent loud, please. | Loudness to {0}. |
How loud? {0}. | Reduce or raise the volume to {0}. | Bring the sound to {0}. | Have the volume at {0} percent. |
My radio should be at loudness {0}. | Fix the loudness at {0}. | The TV is at the wrong volume. Make it {0}. |
Adapt the loudness: {0} | Speaker volume should equal {0}. | Mixer to {0}. | Please regulate the sound: {0} |
Turn the volume knob to {0}. | Volume level {0} would be just right for us. | TV sound to {0} percent. |
Switch the volume over to {0}. | Let us hear it at volume {0}. | {0} is loud enough, set it to that. |
Get the volume up or down to {0}. | I can't hear a thing. Volume up to {0}. |
Pump the music to {0} percent volume. | The TV should be at volume {0}. | Leave the loudness at {0} percent. |
May I have the speaker at {0} percent? | Dial in volume {0}, will you? | Move the volume slider to {0}. |
Music volume {0}, please. | Limit the sound to {0} percent. | Audio volume {0} percent. |
Crank the volume to {0}. | Would you mind a volume of {0}? | Let it play with a loudness of {0}. |
Give the speakers {0} percent volume. | audio level {0} | The noise level of the speaker should drop to {0}. |
Keep the sound at {0} percent. | {0} for the volume, thanks. | Hold the volume at {0}. | vol {0} |
Fix the volume at {0} for now. | Volume setting: {0} | The neighbours complain. Sound down to {0}. |
Is a sound level of {0} possible? | My ears hurt. Make it volume {0}."""),
    (Outcome(("status", "state", "volume"), lambda s: s.any(("set", "ok", "done")), "{}"),),
    "The volume is {o}: {0}.",
)

LOCK_DOOR = Concept(
    phrases("""lock_door | door_lock | lockDoor | set_lock | smart_lock | lock | door | control_lock |
lock_control | door_control | toggle_lock | set_door | lock_or_unlock | secure_door | setDoorLock |
unlock_door | lock_switch | change_lock | front_door | door_state | bolt_door | doorBolt | entrance_lock |
turn_key | lock_entrance | gate_lock | doorSecurity | key_control | secure_entrance | latch_door | door_guard |
set_bolt | lockGate | entry_lock | deadbolt | set_deadbolt | latch | door_latch | doorState | lockState |
set_lock_state | operate_lock | door_bolt | smart_door | entry_control | update_lock | door_security |
doorLockSwitch | access_door | apply_lock | lock_toggle | remote_lock | house_lock"""),
    phrases("""Lock or unlock a door. | Door lock | Locks or unlocks a door. | Controls the lock of a door. |
Smart lock | Lock control | Set the lock of a door. | Sets whether a door is locked. |
Locks a door or opens the lock. | Door control. | Lock a door | Controls a door. |
Changes the lock of one door. | Use this to lock doors. | The lock of a door. | Locks doors."""),
    (
        Field(("door", "room", "place", "which", "where", "location"), "string", text(pick(words.PLACES))),
        Field(("locked", "lock", "state", "closed", "secure"), "boolean", switch("lock", "unlock")),
    ),
    phrases("""Please {1} the {0} door. | {1} the {0} door | {1} the door of the {0}. | {1} the door to the {0}. |
Can you {1} the {0} door? | Could you {1} the door of the {0}? | Would you {1} the {0} door for me? |
Will you {1} the door to the {0}? | I want to {1} the {0} door. | I want you to {1} the door to the {0}. |
I need you to {1} the {0} door. | I need to {1} the door of the {0}. | I'd like to {1} the door to the {0}. |
We have to {1} the {0} door. | We should {1} the door of the {0}. | I forgot to {1} the {0} door. Do it. |
I forgot the {0} door. Please {1} it. | I am not at home. {1} the {0} door for me. | I am leaving. {1} the {0} door. |
The {0} door: {1} it. | The {0} door, please {1} it. | The door of the {0}: {1} it, please. |
The door to the {0}, can you {1} it? | There is a door to the {0}. {1} it. | Go and {1} the {0} door. |
Now {1} the door of the {0}. | Let's {1} the {0} door. | Help me {1} the {0} door. | It is time to {1} the {0} door. |
Do not forget to {1} the {0} door. | Make sure to {1} the door of the {0}. | Take care of the {0} door: {1} it. |
Door to the {0}: {1} | {0} door: {1} | {0} door {1} | For the {0} door: {1} | Someone should {1} the {0} door. |
You can {1} the {0} door now. | Use the lock of the {0} door: {1} it. | Be so kind and {1} the door to the {0}. |
Door of the {0}: {1} | The {0} entrance, {1} it. | I am leaving. Please {1} the {0} door. |
Somebody waits. You may {1} the {0} door. | {1} up the door of the {0}. | Please {1} the entrance of the {0}. |
Can the {0} door be checked? I want you to {1} it. | It is late, so {1} the {0} door. |
Have the door to the {0} react: {1} | Use the bolt of the {0} door: {1} | See to the {0} door and {1} it. |
Turn the key of the {0} door: {1} | Go to the {0} door, {1} it. | Safety first: {1} the door of the {0}. |
{1} the gate to the {0}. | {0} gate: {1} it, please. | My hands are full. Please {1} the {0} door. |
Would you please {1} the {0} entrance? | The key is gone. Please {1} the door of the {0}. |
Visitors come, so {1} the {0} door or gate. | {1} {0} entrance | One wish for the door of the {0}: {1} |
Remote control: {1} the {0} door. | Do me a favour and {1} the {0} door. | How about you {1} the door to the {0}? |
As for the door to the {0}, {1} it. | {1} the entry to the {0}. | My wife wants the {0} door changed, so {1} it. |
Let the door to the {0} {1}. | Quickly {1} the door of the {0}! | About the {0} door: please {1} it. |
Are you able to {1} the door of the {0}? | It would help me if you {1} the {0} door. |
Just {1} the door of the {0}, please. | Door {0}, action {1} | Have the {0} door {1} itself. |
My hands are full, could you {1} the {0} door? | Would you mind? I want you to {1} the {0} door. |
Make the {0} door {1}. | Kindly {1} the {0} door. | I left without the key for the {0} door. {1} it. |
That door to the {0}, {1} it. | {1} the {0} entrance door, please. | Action for the {0} door: {1} |
{1} this door: {0} | What I want is to {1} the door to the {0}. | You may {1} the {0} door. |
Hey, {1} the {0} door, will you? | I'd be glad if you could {1} the {0} door. |
Turn the bolt of the {0} door to {1}. | Remember the {0} door and {1} it. | {1} the door lock of the {0}. |
Make sure that you {1} the {0} door. | Make sure to {1} the {0} door. | Make sure to {1} the door to the {0}. |
Make sure to {1} the {0}. | Be sure to {1} the door of the {0}. | Be sure to {1} the {0} door. |
See to it that you {1} the door of the {0}. | Try to {1} the door of the {0}. | Remember to {1} the door of the {0}. |
Remember to {1} the {0} door. | Go ahead and {1} the door of the {0}. | I go out. {1} the {0} door. |
I am off. {1} the {0} door. | We leave now. {1} the {0} door. | I am coming home. {1} the {0} door. |
It is night. {1} the {0} door."""),
    (Outcome(("status", "state", "door"), lambda s: s.any(("done", "ok", "changed")), "{}"),),
    "The {0} door: {o}.",
)

VACUUM_ROOM = Concept(
    phrases("""vacuum_room | vacuum | start_vacuum | robot_vacuum | vacuumRoom | clean_room | clean_floor |
cleaner | vacuum_cleaner | run_vacuum | start_cleaning | hoover | vacuum_start | robot_cleaner |
cleaning_robot | send_robot | floor_cleaner | startVacuum | hoover_room | vacuum_floor | cleanFloor |
robot_sweep | dust_off | carpet_clean | floor_robot | send_cleaner | roomVacuum | sweepFloor | tidy_floor |
cleaning_job | hooverRobot | remove_dust | suck_dust | sweep | run_roomba | dust_room | start_robot |
dispatch_vacuum | vacuumZone | clean_area | floorCleaning | hoover_floor | launch_cleaner | vacuum_job |
cleanZone | carpet_cleaner | robovac | start_hoover | send_vacuum | house_cleaning"""),
    phrases("""Vacuum a room. | Robot vacuum | Cleans the floor of a room. | Starts the vacuum cleaner. |
Vacuum cleaner | Cleaning robot | Vacuums a room. | Sends the robot to clean a room. | Clean a room |
Cleans a room with the robot. | Cleans the floor. | Hoover a room. | Start the vacuum robot |
The robot vacuums the floor. | Starts to clean a room. | Use this to clean floors."""),
    (Field(("room", "place", "area", "zone", "where"), "string", text(pick(words.PLACES))),),
    phrases("""Vacuum the {0}. | Please vacuum the {0}. | Can you vacuum the {0}? |
Could you clean the floor in the {0}? | vacuum {0} | clean the {0} floor | hoover the {0} | Hoover the {0}, please. |
Clean the {0}. | Clean the floor of the {0}. | Clean the {0} with the vacuum. | Clean the {0} with the robot. |
Start the vacuum in the {0}. | Start the robot in the {0}. | Start to clean the {0}. | Start cleaning the {0}. |
Run the vacuum in the {0}. | Run the robot vacuum in the {0}. | Send the robot to the {0}. |
Send the vacuum robot to the {0}. | Send the vacuum to the {0} floor. | Let the robot clean the {0}. |
Let the vacuum clean the {0} floor. | Have the robot vacuum the {0}. | Have the floor of the {0} cleaned. |
The {0} is dirty. Vacuum it. | The {0} is dusty. Clean the floor. | The floor in the {0} is dirty. |
The floor of the {0} needs the vacuum. | The {0} needs to be vacuumed. | The {0} needs to be cleaned. |
There is dust in the {0}. Start the vacuum. | There is dirt on the floor of the {0}. | I want the {0} floor clean. |
I want the {0} vacuumed. | I need a clean floor in the {0}. | I need the robot in the {0}. |
I'd like the robot to clean the {0}. | Would you hoover the floor of the {0}? |
Would you start the robot in the {0}? | It is time to vacuum the {0}. | Guests are coming. Vacuum the {0}. |
Vacuum cleaner to the {0}, please. | Robot: clean the {0}. | Next room to vacuum: the {0}. |
Crumbs everywhere in the {0}. Clean it. | The {0} is dusty. Let the robot run. | Hoover the {0} floor. |
The carpet in the {0} needs cleaning. | Clean the carpet of the {0}. | The cat lost hair in the {0}. Vacuum there. |
Send the cleaner to the {0}. | Get rid of the dust in the {0}. | Suck up the dirt in the {0}. |
We have guests, so vacuum the {0}. | Floor cleaning: {0} | Next room to vacuum: {0} | Make the {0} floor clean. |
Do the floor of the {0}. | Run the cleaning robot in the {0}. | Have the {0} swept. | Have the {0} hoovered. |
It is messy in the {0}. Start cleaning. | The {0} could do with a vacuum. | Please go over the {0} with the vacuum. |
Launch the robot cleaner: {0} | Vacuuming needed in the {0}. | Can the robot do the {0}? |
Pick up the dust in the {0}. | I want a clean floor in the {0}. | Dispatch the vacuum robot to the {0}. |
The kids ate biscuits in the {0}. Vacuum there. | I have an allergy, so vacuum the dust in the {0}. |
Put the robot to work in the {0}. | Could the vacuum do a round in the {0}? | Get the {0} vacuumed before dinner. |
The rug in the {0} is full of dust. | Sweep the {0} with the robot. |
We had a party in the {0}. The floor needs cleaning. | Go over the {0} with the vacuum cleaner. |
Give the {0} a quick vacuum. | Might the robot do the {0}? | hey, the {0} is filthy, hoover it |
The {0} deserves a thorough vacuuming. | quick hoover in {0} | Turn on the vacuum cleaner for the {0}. |
robot to {0} | The hoover should start in the {0}. | Vacuum the carpet of the {0}. |
Activate the robot hoover in the {0}. | vacuuming, {0} | Get rid of the dust on the {0} floor. |
The {0} has not been vacuumed for a week. Do it. | Do the vacuuming in the {0}. |
Sweep the floor of the {0}, please. | vacuum duty: {0} | Order the robot to vacuum the {0}. |
Can the robot go through the {0}? | Get the robot going in the {0}. | Let the little robot sweep the {0}. |
Would you start the vacuum in the {0}? | Would you send the robot to the {0}? |
Would you let the robot clean the {0}? | Would you start cleaning the {0}? | Could you start the robot in the {0}? |
Could you start the vacuum in the {0}? | Can you start the robot cleaner in the {0}? |
Please start the robot in the {0}. | Please start the vacuum robot in the {0}. | Please run the robot in the {0}. |
Please start the vacuum of the {0}. | Start the hoover in the {0}. | Start the cleaner in the {0}. |
Start the cleaning robot in the {0}. | Start the vacuum cleaner in the {0}. | Start the vacuuming in the {0}. |
Start the machine on the {0} floor. | Run the hoover in the {0}. | Run the cleaner in the {0}."""),
    (
        Outcome(("status", "state", "robot"), lambda s: s.any(("started", "running", "ok", "cleaning")), "{}"),
        Outcome(("minutes", "left", "duration"), amount(5, 90), "{} minutes left"),
    ),
    "The vacuum in the {0}: {o}.",
)
