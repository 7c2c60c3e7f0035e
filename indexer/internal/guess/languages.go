package guess

import "unicode"

// A language lists the letters outside ASCII of a language, the most frequent first.
type language struct {
	letters string
	share   float64             // of letters in the characters outside ASCII
	latin   bool                // they occur between letters of ASCII
	other   *unicode.RangeTable // rarer letters, or nil
	rest    float64             // the logarithm of the probability of each of them
}

// languages are the languages by which encodings are distinguished. The order of their letters is
// that in half of the pages of the Debian Administrator's Handbook; that of Ukrainian, Bulgarian,
// Hungarian, Hebrew, Thai and the Baltic languages is from published tables.
var languages = map[string]language{
	"russian":    {letters: "оеаитнсрвлмкдпуыязьбчгйхжюфцщшэъё", share: .95},
	"ukrainian":  {letters: "оанивітерсклудмпязьбгчйхжїцшюєщфґ", share: .95},
	"bulgarian":  {letters: "аеиотнрсвлкдпмзяубъгчцщхжшйфюь", share: .95},
	"greek":      {letters: "εαοιρπμτνγήσχηάδόκλίυςωφέβθύώξζψϊϋΐΰ", share: .95},
	"hebrew":     {letters: "יוהלאמרתבשנעדקחםטפגכןצסזךףץְָּׁ", share: .95},
	"arabic":     {letters: "الميتندروبةعفسهحأقكخجصإذطزشىثضًظغئءَُّآؤِْ", share: .95},
	"persian":    {letters: "ایردنهمتبوسکزلشفگخجعپقصآحطچذظضغثژئي", share: .95},
	"thai":       {letters: "านรอกเง่มยวลัดทีสต้ะปิบหคแจ์พชขใไืผโูุ็ณถศซธึฉญภฟฐษฮำฏๆ", share: .95},
	"polish":     {letters: "ąłężóśćńź", share: .95, latin: true},
	"czech":      {letters: "íáéřžěčýůšúňóťď", share: .95, latin: true},
	"slovak":     {letters: "áíéžýčšúľťôóňďä", share: .95, latin: true},
	"hungarian":  {letters: "áéöóőüíúű", share: .95, latin: true},
	"romanian":   {letters: "îățșâţş", share: .95, latin: true},
	"croatian":   {letters: "čćžšđ", share: .95, latin: true},
	"turkish":    {letters: "ıüşöçğİâî", share: .95, latin: true},
	"lithuanian": {letters: "ėšųžįąčęū", share: .95, latin: true},
	"latvian":    {letters: "āīēšūņļžķčģ", share: .95, latin: true},
	"dutch":      {letters: "ëéïóüèöáêç", share: .95, latin: true},
	"german":     {letters: "üäöß", share: .95, latin: true},
	"french":     {letters: "éàèêôçâîùœûëï", share: .95, latin: true},
	"spanish":    {letters: "óáíúéñü", share: .95, latin: true},
	"portuguese": {letters: "ãçáéíóõêúâàô", share: .95, latin: true},
	"italian":    {letters: "èàòùéì", share: .95, latin: true},
	"nordic":     {letters: "äöåæøé", share: .95, latin: true},
	"icelandic":  {letters: "íáþéóðöúæý", share: .95, latin: true},
	"catalan":    {letters: "óàéèíçòúïü", share: .95, latin: true},
	"estonian":   {letters: "äõüöšž", share: .95, latin: true},
	"japanese": {letters: "のすにをるまはでしとれていながこたさらりかうもけくっきよあせめんそばえつだわべおみどへやちじずびょぜざろむほぞげづごぐぎーンストルイックフシ" +
		"ジリプパィドアテデケロラムァョタグサバコマェメセュウブレネカソザビキユワモホオォハボニチャナミポツピエズダベペゾガヘノゲ定使能設合的可場理用" +
		"行要作者実最成対動存一管必名方分性同新戻化自前開含数関上保書後仮想信意示多時内言通更利限次変文発表中業全続選問提指単目初常入送取以制正他明第" +
		"確認接下間加付特起出法解点報不別構部状供例際当受語複度生持味機容情有物節除体基応手適再連現証準番割本注在択標込完先決態追依求力子削説大号版期", share: .85, other: unicode.Han, rest: -9.5},
	"korean": {letters: "이다로음비안데의전자니에리으드하는을위프트관절그어처은핸북서해지설한장치기부있가고웨습소예스대를유림시도용단들수문일사입것만면제라정과인적아" +
		"젝게분책파할계합재되근터작차통실개방팅된록커여램미체나상발요법신열때보업구며눅영선반무운행컴퓨명워점히간동티거원료함었당우크포봅널러와중했화" +
		"세회받많따내될알또후더식모버없네결력뮤배불참특년진번목겁마두됩름항양존누독언역야약않타려최능성템접까든플공권저른바확필추질경키조메첫주청몇칙" +
		"르표형패똑택께현렇움길랍떻읽오립겠편집넘막환디찾멀완래뉴긴매째같규협속줄노익친쓰", share: .85, other: unicode.Hangul, rest: -9},
	"simplified Chinese": {letters: "的件一用在个是可包以有这文软不使为中置上要理安于它本器配发来行装会和程务分如页时其下系能们了服统通作些机或后数者管定到盘并需过所同名选令版将" +
		"户自内由序被动此多接地常对网第与方目问设命区而新相最进建制式更因许据磁加应工果项他提存但成性级也种邮面当单然拟开指例员虚大出列之从始只特称该" +
		"重都容法实生样具就前息我意络示情主入间必全供题录化运创任限基保子况标每且信字现部电及认组关节已则查手择除表码模你证完人密还改导参两何解语卷计" +
		"量允启注核起很构含须口合代步备端经变么括那图册处外护没引别知先源检公得档块载硬取议域小简编依确等像非试整给明权显述类持操规移志连架算测正复原" +
		"决协换即日符储访记址请识脚物无点案添修求", share: .7, other: unicode.Han, rest: -9},
	"traditional Chinese": {letters: "的一用件頁套以在是個者使安裝可不有組檔下案理與前態定其本為式此版管系體分器新能區或統時選設動於自作程同軟始資要名內由服後上行方稱多這機相料入" +
		"他發網來手就工它中所節起出令需性層碟指問例單冊最命必路部文題伺到該地法基限對改啟也通面先原但語取供而位會碼常第實圖擇成應並權特已更磁加包祗結" +
		"重除提如從若字章形因執容進務增步及須建範號構們解等示現之制移級經編把都未生變具種每化間心括些全介密電標存開至合元依架備項數明份預修腦過業被情" +
		"將大列得測腳保連表記載且說道主兩擬核模置夾人計清代見很況虛鍵序則許穩試優和群還然完配目才錄整做了再任意割專查升決散畫次欄別小知關公認硬換正端" +
		"訊護述遠當何回仍事參裡接適著沒求舊證點立", share: .7, other: unicode.Han, rest: -9},
}

// encodings are the candidates with their languages, windows-1252 first. Of two with equal scores,
// the first one wins.
var encodings = []struct {
	name      string
	languages []string
}{
	{"windows-1252", []string{
		"german", "dutch", "french", "spanish", "portuguese", "italian", "nordic", "icelandic", "catalan", "estonian",
	}},
	{"windows-1251", []string{"russian", "ukrainian", "bulgarian"}},
	{"koi8-u", []string{"russian", "ukrainian"}},
	{"ibm866", []string{"russian"}},
	{"iso-8859-5", []string{"russian", "bulgarian"}},
	{"windows-1253", []string{"greek"}},
	{"iso-8859-7", []string{"greek"}},
	{"windows-1250", []string{"polish", "czech", "slovak", "hungarian", "romanian", "croatian"}},
	{"iso-8859-2", []string{"polish", "czech", "slovak", "hungarian", "romanian", "croatian"}},
	{"windows-1254", []string{"turkish"}},
	{"windows-1255", []string{"hebrew"}},
	{"windows-1256", []string{"arabic", "persian"}},
	{"iso-8859-6", []string{"arabic"}},
	{"windows-1257", []string{"lithuanian", "latvian", "estonian"}},
	{"windows-874", []string{"thai"}},
	{"shift_jis", []string{"japanese"}},
	{"euc-jp", []string{"japanese"}},
	{"euc-kr", []string{"korean"}},
	{"gb18030", []string{"simplified Chinese"}},
	{"big5", []string{"traditional Chinese"}},
}
