/** How the WHOIS server of a top-level domain answers. */
export interface WhoisForm {
  host: string
  /** The query; `{name}` stands for the name. Default: the name alone. */
  query?: string
  /**
   * Lines that mean that a name is not registered. A response must have a line that is equal to one of them, apart from case and spaces:
   * the same words in the middle of a line, as in a remark, mean nothing.
   */
  free: readonly string[]
  /** Labels of the line with the name, if they aren’t the usual ones. */
  names?: readonly string[]
  /** Labels of the end of the registration. Empty if the registry doesn’t publish it. */
  ends: readonly string[]
  /** Offset of its times from UTC, in minutes. */
  offsetMinutes?: number
}

const icannEnds = ['registry expiry date', 'expiration date', 'domain expiration date']
const icannFree = ['Domain not found.', 'No Data Found', 'NOT FOUND', 'Not found: {name}', 'No match for "{name}".']
const icann = (host: string): WhoisForm => ({ host, free: icannFree, ends: icannEnds })

/** The form that ICANN requires of registries of generic domains. Others use it too. */
export const icannForm: Omit<WhoisForm, 'host'> = { free: icannFree, ends: icannEnds }

const tcinet: WhoisForm = {
  host: 'whois.tcinet.ru',
  free: ['No entries found for the selected source(s).', 'No entries found'],
  ends: ['paid-till'],
}
const sweden = (host: string): WhoisForm => ({
  host,
  free: ['domain "{name}" not found.', '"{name}" not found.'],
  ends: ['expires'],
})

/** WHOIS servers by top-level domain, in the form of their responses as of the fixtures in test/fixtures/whois. */
export const whoisForms: Readonly<Record<string, WhoisForm>> = {
  ac: icann('whois.nic.ac'),
  at: { host: 'whois.nic.at', free: ['% nothing found'], ends: [] },
  be: { host: 'whois.dns.be', free: ['Status: AVAILABLE'], ends: [] },
  cl: {
    host: 'whois.nic.cl',
    free: ['{name}: no entries found.', 'No entries found.'],
    ends: ['expiration date'],
    offsetMinutes: -180,
  },
  cn: {
    host: 'whois.cnnic.cn',
    free: ['No matching record.'],
    ends: ['expiration time'],
    offsetMinutes: 480,
  },
  co: icann('whois.registry.co'),
  de: { host: 'whois.denic.de', query: '-T dn,ace {name}', free: ['Status: free'], ends: [] },
  dk: { host: 'whois.punktum.dk', free: ['No entries found for the selected source.'], ends: ['expires'] },
  ee: { host: 'whois.tld.ee', free: ['Domain not found'], names: ['name'], ends: ['expire'] },
  eu: { host: 'whois.eu', free: ['Status: AVAILABLE'], ends: [] },
  hk: { host: 'whois.hkirc.hk', free: ['The domain has not been registered.'], ends: ['expiry date'] },
  hu: { host: 'whois.nic.hu', free: ['Nincs találat / No match', 'No match'], ends: [] },
  ie: {
    host: 'whois.weare.ie',
    free: ['Not found: {name}', '% Not Registered - The domain you have requested ({name}) is not a registered .ie domain name.'],
    ends: ['registry expiry date', 'renewal'],
  },
  io: icann('whois.nic.io'),
  it: { host: 'whois.nic.it', free: ['Status: AVAILABLE'], ends: ['expire date'] },
  jp: { host: 'whois.jprs.jp', query: '{name}/e', free: ['No match!!'], ends: ['expires on', 'state'] },
  kr: { host: 'whois.kr', free: ['Above domain name is not registered to KRNIC.'], ends: ['expiration date'] },
  lt: { host: 'whois.domreg.lt', free: ['Status: available'], ends: ['expires'] },
  lu: { host: 'whois.dns.lu', free: ['% No such domain'], ends: [] },
  lv: { host: 'whois.nic.lv', free: ['Status: free'], ends: [] },
  me: icann('whois.nic.me'),
  mx: {
    host: 'whois.mx',
    free: ['No_Se_Encontro_El_Objeto/Object_Not_Found', 'Object_Not_Found'],
    ends: ['expiration date'],
  },
  nu: sweden('whois.iis.nu'),
  pt: {
    host: 'whois.dns.pt',
    free: ['{name} - No Match', '{name} No Match'],
    names: ['domain', 'nome de domínio / domain name'],
    ends: ['expiration date', 'data de expiração / expiration date (dd/mm/yyyy)'],
  },
  ro: { host: 'whois.rotld.ro', free: ['% No entries found for the selected source(s).'], ends: ['expires on'] },
  ru: tcinet,
  se: sweden('whois.iis.se'),
  sh: icann('whois.nic.sh'),
  sk: { host: 'whois.sk-nic.sk', free: ['Domain not found.', 'Not found.'], ends: ['valid until'] },
  su: tcinet,
  tr: { host: 'whois.trabis.gov.tr', free: ['No match found for "{name}"', 'No match found'], ends: ['expires on'] },
  us: icann('whois.nic.us'),
  'xn--p1ai': tcinet,
}
