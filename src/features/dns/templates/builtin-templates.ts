import type { TemplateContent, TemplateRecord, TemplateVariable } from './content'

/** A template that comes with the program. */
export interface BuiltinTemplate {
  id: string
  name: string
  description: string
  content: TemplateContent
  /** Goes up with each edit of the content, so that bindings of the one before are told to be outdated. */
  contentVersion: number
}

// When they came into the program.
export const builtinSince = Date.UTC(2026, 10, 21)

const text = (name: string, description: string, more: Partial<TemplateVariable> = {}): TemplateVariable => ({
  name,
  type: 'string',
  description,
  ...more,
})

const dmarcPolicy: TemplateVariable = {
  name: 'policy',
  type: 'enum',
  values: ['none', 'quarantine', 'reject'],
  default: 'none',
  description: 'What receivers are to do with mail that fails DMARC.',
}
const reports = text('reports', 'Address that receives the reports, such as dmarc@example.com.', {
  pattern: '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+',
})

/** RFC 7489 sections 6.1 and 6.3. */
const dmarc: TemplateRecord = {
  type: 'TXT',
  name: '_dmarc',
  content: 'v=DMARC1; p={{policy}}; rua=mailto:{{reports}}',
  on_conflict: 'skip',
  essential: false,
}

/**
 * A null MX (RFC 7505), and SPF and DMARC that let nobody send (RFC 7208 section 10.1.2, RFC 7489 section 6.3). Where mail is set up already
 * whoever wants it gone removes it first: it must not end by an oversight.
 */
const noMail: TemplateContent = {
  variables: [],
  records: [
    { type: 'MX', name: '@', content: '0 .', on_conflict: 'fail' },
    { type: 'TXT', name: '@', content: 'v=spf1 -all', on_conflict: 'fail' },
    { type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=reject; sp=reject; adkim=s; aspf=s', on_conflict: 'replace' },
  ],
}

/** MX (RFC 5321 section 5.1), SPF (RFC 7208), DMARC (RFC 7489). */
const mail: TemplateContent = {
  variables: [
    { name: 'mail_host', type: 'host', description: 'The server that takes the mail.' },
    {
      name: 'spf_all',
      type: 'enum',
      values: ['~all', '-all', '?all'],
      default: '~all',
      description: 'What is said of all other senders, where there is no SPF record yet.',
    },
    dmarcPolicy,
    reports,
  ],
  records: [
    { type: 'MX', name: '@', fields: { preference: 10, exchange: '{{mail_host}}' }, on_conflict: 'replace' },
    { type: 'TXT', name: '@', content: 'v=spf1 mx {{spf_all}}', on_conflict: 'merge' },
    dmarc,
  ],
}

/**
 * Microsoft, "External Domain Name System records for Microsoft 365" and "Add DNS records to connect your domain": MX with preference 0
 * and the host that the admin centre shows, autodiscover, and the SPF include; "Set up DKIM to sign mail from your cloud domain": two
 * CNAMEs whose targets the portal shows; "Set up Intune enrollment for Windows devices": the two names of enrolment.
 */
const microsoft365: TemplateContent = {
  variables: [
    {
      name: 'mx_host',
      type: 'host',
      description: 'As the admin centre shows it, such as example-com.mail.protection.outlook.com.',
    },
    {
      name: 'verification',
      type: 'string',
      required: false,
      pattern: 'MS=ms\\d+',
      description: 'Proof of ownership as the admin centre shows it, such as MS=ms12345678.',
    },
    { name: 'dkim_1', type: 'host', required: false, description: 'Target of selector1, as the Defender portal shows it.' },
    { name: 'dkim_2', type: 'host', required: false, description: 'Target of selector2, as the Defender portal shows it.' },
    {
      name: 'device_enrollment',
      type: 'enum',
      values: ['yes'],
      required: false,
      description: '`yes` for devices that are enrolled with Intune and registered with Entra.',
    },
  ],
  records: [
    { type: 'TXT', name: '@', content: '{{verification}}', when: 'verification', essential: false },
    { type: 'MX', name: '@', fields: { preference: 0, exchange: '{{mx_host}}' }, ttl: 3600, on_conflict: 'replace' },
    { type: 'TXT', name: '@', content: 'v=spf1 include:spf.protection.outlook.com -all', on_conflict: 'merge' },
    { type: 'CNAME', name: 'autodiscover', content: 'autodiscover.outlook.com.', ttl: 3600, on_conflict: 'replace' },
    { type: 'CNAME', name: 'selector1._domainkey', content: '{{dkim_1}}', when: 'dkim_1', ttl: 3600, on_conflict: 'replace' },
    { type: 'CNAME', name: 'selector2._domainkey', content: '{{dkim_2}}', when: 'dkim_2', ttl: 3600, on_conflict: 'replace' },
    enrollment('enterpriseenrollment', 'enterpriseenrollment-s.manage.microsoft.com.'),
    enrollment('enterpriseregistration', 'enterpriseregistration.windows.net.'),
  ],
}

function enrollment(name: string, target: string): TemplateRecord {
  return { type: 'CNAME', name, content: target, when: 'device_enrollment', ttl: 3600, on_conflict: 'replace' }
}

/**
 * Google Workspace Admin Help, "Google Workspace MX record values": one MX since 2023, with preference 1; "Set up SPF": the include with
 * ~all; "Set up DKIM": a TXT whose selector is `google` unless it was chosen otherwise.
 */
const googleWorkspace: TemplateContent = {
  variables: [
    {
      name: 'verification',
      type: 'string',
      required: false,
      pattern: 'google-site-verification=[A-Za-z0-9_-]+',
      description: 'Proof of ownership as the admin console shows it.',
    },
    {
      name: 'dkim_selector',
      type: 'string',
      default: 'google',
      pattern: '[a-z0-9-]+',
      description: 'Prefix selector of the DKIM key.',
    },
    {
      name: 'dkim_key',
      type: 'string',
      required: false,
      pattern: 'v=DKIM1;.*',
      description: 'The text of the DKIM key as the admin console shows it.',
    },
  ],
  records: [
    { type: 'TXT', name: '@', content: '{{verification}}', when: 'verification', essential: false },
    { type: 'MX', name: '@', content: '1 smtp.google.com.', ttl: 3600, on_conflict: 'replace' },
    { type: 'TXT', name: '@', content: 'v=spf1 include:_spf.google.com ~all', on_conflict: 'merge' },
    { type: 'TXT', name: '{{dkim_selector}}._domainkey', content: '{{dkim_key}}', when: 'dkim_key', on_conflict: 'replace' },
  ],
}

/** RFC 8555 section 8.4 has the name; that a CNAME there hands the challenges on, Let’s Encrypt says under "Challenge Types". */
const acmeDelegation: TemplateContent = {
  variables: [{ name: 'target', type: 'host', description: 'Name at which the challenges are answered.' }],
  records: [{ type: 'CNAME', name: '_acme-challenge', content: '{{target}}', on_conflict: 'replace' }],
}

/** RFC 8659 sections 4.2 to 4.4. */
const caa: TemplateContent = {
  variables: [
    { name: 'issuer', type: 'host', default: 'letsencrypt.org', description: 'Who may issue certificates.' },
    {
      name: 'wildcard_issuer',
      type: 'string',
      default: ';',
      pattern: ';|[a-z0-9.-]+',
      description: 'Who may issue those for wildcards; a semicolon is nobody.',
    },
    {
      name: 'contact',
      type: 'string',
      required: false,
      pattern: 'mailto:.+|https?:.+',
      description: 'Whom issuers tell of requests that they refuse, as a mailto: or https: URL.',
    },
  ],
  records: [
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'issue', value: '{{issuer}}' }, on_conflict: 'replace' },
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'issuewild', value: '{{wildcard_issuer}}' }, on_conflict: 'replace' },
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'iodef', value: '{{contact}}' }, when: 'contact', on_conflict: 'replace' },
  ],
}

/** RFC 8461 section 3.1: the id changes with the policy, which is fetched from `mta-sts`; RFC 8460 section 3. */
const mtaSts: TemplateContent = {
  variables: [
    { name: 'policy_id', type: 'string', pattern: '[A-Za-z0-9]{1,32}', description: 'Changes whenever the policy changes.' },
    { name: 'policy_host', type: 'host', description: 'The web server that has the policy.' },
    reports,
  ],
  records: [
    { type: 'TXT', name: '_mta-sts', content: 'v=STSv1; id={{policy_id}};', on_conflict: 'replace' },
    { type: 'CNAME', name: 'mta-sts', content: '{{policy_host}}', on_conflict: 'replace' },
    { type: 'TXT', name: '_smtp._tls', content: 'v=TLSRPTv1; rua=mailto:{{reports}}', on_conflict: 'replace' },
  ],
}

const builtin = (word: string, name: string, description: string, content: TemplateContent): BuiltinTemplate => ({
  id: `tmpl_builtin_${word}`,
  name,
  description,
  content,
  contentVersion: 1,
})

/** Every template that comes with the program, by id. */
export const builtinTemplates: ReadonlyMap<string, BuiltinTemplate> = new Map(
  [
    builtin(
      'no_mail',
      'No mail',
      'For a name that neither takes nor sends mail: null MX, and SPF and DMARC that refuse all.',
      noMail,
    ),
    builtin('mail', 'Mail server', 'A mail server of your own: MX, SPF and DMARC.', mail),
    builtin(
      'microsoft_365',
      'Microsoft 365',
      'Exchange Online with autodiscover and SPF, DKIM and the enrolment of devices if wanted.',
      microsoft365,
    ),
    builtin('google_workspace', 'Google Workspace', 'Gmail with SPF, and DKIM if wanted.', googleWorkspace),
    builtin(
      'acme_delegation',
      'ACME delegation',
      'Leads the challenges of certificates to a name where they are answered.',
      acmeDelegation,
    ),
    builtin('caa', 'CAA', 'Who may issue certificates.', caa),
    builtin('mta_sts', 'MTA-STS and TLS reports', 'Has mail sent to you by TLS alone, and failures reported.', mtaSts),
  ].map(one => [one.id, one]),
)
