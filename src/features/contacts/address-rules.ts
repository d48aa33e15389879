/** The countries of the European Economic Area: the EU, Iceland, Liechtenstein, and Norway. */
export const eeaCountries: readonly string[] = codes(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK',
)

// The required parts of addresses by country, as Chromium and Android use them (github.com/google/libaddressinput).

/** Countries whose addresses need a state, province, or region. */
const withState = new Set(
  codes('AS AU BR CA CN CO CR ES FM HK HN ID IN IQ IT JM JP KN KR KY MH MP MX NR PF PG PW RU SO SV TW UM US VE VI'),
)

/** Countries whose addresses need a postal code. */
const withPostalCode = new Set(
  codes(
    'AS AT AU AX BE BL BR CA CH CN CZ DE DK EE ES FI FK FM FR GB GF GG GL GP GR GS GU HU IM IN IO IT JE JP KR LI LT LU LV MF MH MP ' +
      'MQ MX MY NC NL NO NZ PF PL PM PN PR PT PW RE RU SE SG SH SJ SK SM TC TR TW UA US VI YT ZA',
  ),
)

/** Whether addresses in a country need a state or a postal code. @param country ISO 3166-1 alpha-2 code */
export const addressNeeds = (country: string): { state: boolean; postalCode: boolean } => ({
  state: withState.has(country),
  postalCode: withPostalCode.has(country),
})

function codes(text: string): string[] {
  return text.split(' ')
}
