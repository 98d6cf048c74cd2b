/**
 * Words that stand in many merchants' names, and what networks write around a name. Data only: a word that is missing
 * here makes a charge look like that of another merchant, and never the other way round.
 * @module
 */
const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Left out of a name without changing whose it is. */
export const legalForms = set(`
  ab ag aps as bv co company corp corporation cv eg ek eurl ev gbr gmbh hf inc incorporated kft kg kgaa lda limited llc llp
  ltd ltda mbh nv ohg oy oyj plc pte pty sa sarl sas sasu sl sp spa srl srls ug zoo`);

/** Say nothing about which merchant it is. */
export const genericWords = set(`
  and api app branch bill billing checkout com da danke das de der des di die digital el en et fil filiale for fuer
  fur ihnen il im internet la le les marketplace mktp mktplace net nr no online order orders outlet pay payment
  payments pos sale sales service services shop shopping shops site station store stores subscription svc svcs t the
  trip und von web webshop www y zum zur`);

/** Name a trade. After a name, such a word makes another merchant of it. */
export const tradeWords = set(`
  airlines airways apotheke auto autos backerei backstube baeckerei bakery bank bar bau bazaar beach beauty beer bier bike
  bikes bistro books bookshop boots boutique boulangerie bread brewers brewery brewing buch buchhandlung bucher buecher burger
  burgers cab cabs cafe caffe car care cars casino center centre charity church cinema cleaners cleaning clinic cloud club
  coffee consulting creperie cruises deals deli delivery dental dentist design diner drinks drugs eats electric electronics
  energy entertainment estate express fabrics faucet finance financial fitness flooring flowers food foods fuel furniture gallery games
  garage garden gas gear gifts gold grill grocery group gym hair hardware haus health hospital hostel hotel hotels house
  imports import importers exporters export industries inn insurance ins jewelers jewelry kaffee kino kiosk kitchen labs laundry
  law lending lighting living loan loans lounge magazine mall market markt media medical mining mobile mode moebel mobel motors
  museum music nails news nut office optical optik outfitters parking parts party pawn pets pharmacy pizza pizzeria plumbing
  podcast praxis press print produce properties pub radio records rental rentals repair repairs restaurant rewards roasters
  roofing salon savings school security senior shoes software solar solutions spa spirits sports studio studios supplies supply
  systems tackle tavern tax taxi tea tech technologies telecom theory theatre tickets tires tools tours toys trading transport
  travel trattoria trust university vacations vet video water wear wine wines works yoga zoo`);

/** A compound word that ends so names a trade, in German. */
export const tradeEndings = [
  ...[
    'apotheke',
    'backerei',
    'baeckerei',
    'fabrik',
    'handlung',
    'kammer',
    'kanzlei',
    'kontor',
    'laden',
    'lager',
    'markt',
  ],
  ...[
    'praxis',
    'rosterei',
    'roesterei',
    'salon',
    'studio',
    'verein',
    'verlag',
    'versand',
    'waren',
    'werkstatt',
    'wesen',
  ],
] as const;

/** A bank or a network writes it before the name. */
export const leadingWords = set('card checkcard dbt deb debit kartenzahlung mastercard pos purchase recurring visa');

/** After it nothing of another name follows. */
export const endingWords = set('bill dankt help helpdesk pending purchase recurring refund ref reference sagt');

/**
 * Services that take payments for others and write their name before that of the merchant, who alone is paid then.
 * Visa's rule is the facilitator's name or abbreviation, an asterisk, and the merchant's name.
 */
export const paymentServices = set(`
  adyen ady bt cko ckoshop clearpay crv curve dri eb etsy ezi fs gocardless gumroad iz izettle klarna lemsqzy mollie pad paddle paddlenet
  payone paypal pp ppal py shopify shopifypay sp sq square squareup stripe sumup toast tst vivawallet wpy worldline xsolla zettle
  zlr ztl`);

/** Two-letter ends of a descriptor: countries (ISO 3166-1) and the states of the USA. */
export const regionCodes = set(`
  ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz ca cc cd cf cg
  ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl
  gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la
  lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np
  nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv
  sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk um us usa uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
  ak ct dc fl hi ia ks ky mi mo nd nh nj nm nv ny oh ok or ri tx ut vt wa wi wv wy`);

/** Large cities and countries, as networks write them; a name of several words without its spaces. */
export const places = set(`
  aachen aarhus amsterdam ankara antwerp antwerpen athens athen atlanta auckland augsburg austin austria bangkok barcelona
  basel belfast belgium belgrade berlin bern bielefeld bilbao birmingham bochum bologna bonn bordeaux boston bratislava
  braunschweig bremen brisbane bristol brno brugge brussel brussels bruessel brussel bruxelles bucharest budapest canada cardiff
  chemnitz chicago cologne copenhagen cork dallas darmstadt delhi denmark denver detroit deutschland dortmund dresden dubai
  dublin duesseldorf dusseldorf duisburg edinburgh eindhoven erfurt erlangen espana essen estonia faro finland firenze florence
  france frankfurt freiburg gdansk geneva genf geneve genoa genova gent germany ghent glasgow goteborg goeteborg gothenburg graz
  greece grenoble groningen haarlem halle hamburg hannover hanover heidelberg helsinki hongkong honolulu houston hungary
  innsbruck ireland istanbul italia italy jena jerusalem kaiserslautern karlsruhe kassel kiel klagenfurt kobenhavn koebenhavn
  koeln koln konstanz krakow kyiv lasvegas lausanne leeds leicester leiden leipzig lille limerick linz lisboa lisbon lissabon
  liverpool ljubljana london losangeles luebeck lubeck ludwigsburg luxembourg luxemburg luzern lyon maastricht madrid magdeburg
  mailand mainz malaga malmo malmoe manchester mannheim marseille melbourne memphis miami milan milano minneapolis monaco
  montpellier montreal moscow muenchen munchen munich muenster munster nantes naples napoli nashville netherlands newcastle
  newyork nederland norway nottingham nuernberg nurnberg oakland odense offenburg oldenburg orlando oslo osnabrueck osnabruck
  osterreich oesterreich ottawa oxford palermo palma paris perth philadelphia phoenix pisa pittsburgh plymouth poland polska
  porto portland portugal potsdam poznan praha prague quebec regensburg reykjavik riga rom roma rome rostock rotterdam rouen
  saarbruecken saarbrucken sacramento salzburg sandiego sanfrancisco sanjose saopaulo schweiz seattle seoul sevilla shanghai
  sheffield singapore sofia southampton spain stavanger stlouis stockholm stpaul strasbourg strassburg stuttgart suisse sweden
  switzerland sydney tallinn tampere tokyo torino toronto toulouse trieste trondheim turin turku uppsala usa utrecht valencia
  vancouver venezia venice verona vienna vilnius warsaw warszawa washington wien wiesbaden winterthur wolfsburg wroclaw
  wuerzburg wurzburg zagreb zaragoza zuerich zurich`);

/** With them a place's name begins. */
export const placeLeads = set('am an bad den las los new north saint san sankt santa south st upper west east');

/** Common abbreviations of words; those that only lose their vowels need no entry. */
export const abbreviated: Readonly<Record<string, string>> = {
  acct: 'accounting',
  assn: 'association',
  bros: 'brothers',
  co: 'company',
  corp: 'corporation',
  ctr: 'center',
  dept: 'department',
  intl: 'international',
  mkt: 'market',
  mfg: 'manufacturing',
  natl: 'national',
  rest: 'restaurant',
  str: 'strasse',
  svc: 'service',
  svcs: 'services',
  tech: 'technologies',
  univ: 'university',
};
