import type { TemplateContent, TemplateRecord, TemplateVariable } from './content'

/** A template that ships with Bailiwick. */
export interface BuiltinTemplate {
  id: string
  name: string
  description: string
  content: TemplateContent
  /** Increase with each edit of the content, so that bindings of earlier versions become outdated. */
  contentVersion: number
}

// When they were added.
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
  description: 'What receivers should do with mail that fails DMARC.',
}
const reports = text('reports', 'Address that receives reports, such as dmarc@example.com.', {
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
 * A null MX (RFC 7505), and SPF and DMARC records that allow no senders (RFC 7208 section 10.1.2, RFC 7489 section 6.3). Fails if
 * mail is already set up, so that mail can’t be disabled by accident.
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
    { name: 'mail_host', type: 'host', description: 'Server that receives mail.' },
    {
      name: 'spf_all',
      type: 'enum',
      values: ['~all', '-all', '?all'],
      default: '~all',
      description: 'Policy for all other senders, if there is no SPF record yet.',
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
 * Microsoft, "External Domain Name System records for Microsoft 365" and "Add DNS records to connect your domain": MX with
 * preference 0 and the host shown in the admin center, autodiscover, and the SPF include; "Set up DKIM to sign mail from your
 * cloud domain": two CNAMEs with the targets shown in the portal; "Set up Intune enrollment for Windows devices": two enrollment
 * names.
 */
const microsoft365: TemplateContent = {
  variables: [
    {
      name: 'mx_host',
      type: 'host',
      description: 'As shown in the admin center, such as example-com.mail.protection.outlook.com.',
    },
    {
      name: 'verification',
      type: 'string',
      required: false,
      pattern: 'MS=ms\\d+',
      description: 'Verification value as shown in the admin center, such as MS=ms12345678.',
    },
    { name: 'dkim_1', type: 'host', required: false, description: 'Target of selector1, as shown in the Defender portal.' },
    { name: 'dkim_2', type: 'host', required: false, description: 'Target of selector2, as shown in the Defender portal.' },
    {
      name: 'device_enrollment',
      type: 'enum',
      values: ['yes'],
      required: false,
      description: '`yes` to enroll devices with Intune and register them with Entra.',
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
 * Google Workspace Admin Help, "Google Workspace MX record values": one MX since 2023, with preference 1; "Set up SPF": the
 * include with ~all; "Set up DKIM": a TXT record with the selector `google` by default.
 */
const googleWorkspace: TemplateContent = {
  variables: [
    {
      name: 'verification',
      type: 'string',
      required: false,
      pattern: 'google-site-verification=[A-Za-z0-9_-]+',
      description: 'Verification value from the admin console, such as google-site-verification=….',
    },
    {
      name: 'dkim_selector',
      type: 'string',
      default: 'google',
      pattern: '[a-z0-9-]+',
      description: 'DKIM prefix selector.',
    },
    {
      name: 'dkim_key',
      type: 'string',
      required: false,
      pattern: 'v=DKIM1;.*',
      description: 'DKIM key from the admin console, starting with v=DKIM1;.',
    },
  ],
  records: [
    { type: 'TXT', name: '@', content: '{{verification}}', when: 'verification', essential: false },
    { type: 'MX', name: '@', content: '1 smtp.google.com.', ttl: 3600, on_conflict: 'replace' },
    { type: 'TXT', name: '@', content: 'v=spf1 include:_spf.google.com ~all', on_conflict: 'merge' },
    { type: 'TXT', name: '{{dkim_selector}}._domainkey', content: '{{dkim_key}}', when: 'dkim_key', on_conflict: 'replace' },
  ],
}

/** The name is from RFC 8555 section 8.4; Let’s Encrypt documents delegation by CNAME under "Challenge Types". */
const acmeDelegation: TemplateContent = {
  variables: [{ name: 'target', type: 'host', description: 'Name that serves the challenges.' }],
  records: [{ type: 'CNAME', name: '_acme-challenge', content: '{{target}}', on_conflict: 'replace' }],
}

/** RFC 8659 sections 4.2 to 4.4. */
const caa: TemplateContent = {
  variables: [
    { name: 'issuer', type: 'host', default: 'letsencrypt.org', description: 'CA that may issue certificates.' },
    {
      name: 'wildcard_issuer',
      type: 'string',
      default: ';',
      pattern: ';|[a-z0-9.-]+',
      description: 'CA that may issue wildcard certificates. Use ; for none.',
    },
    {
      name: 'contact',
      type: 'string',
      required: false,
      pattern: 'mailto:.+|https?:.+',
      description: 'Where CAs report rejected requests, as a mailto: or https: URL.',
    },
  ],
  records: [
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'issue', value: '{{issuer}}' }, on_conflict: 'replace' },
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'issuewild', value: '{{wildcard_issuer}}' }, on_conflict: 'replace' },
    { type: 'CAA', name: '@', fields: { flags: 0, tag: 'iodef', value: '{{contact}}' }, when: 'contact', on_conflict: 'replace' },
  ],
}

/** RFC 8461 section 3.1 (the id must change with the policy, which is fetched from `mta-sts`) and RFC 8460 section 3. */
const mtaSts: TemplateContent = {
  variables: [
    {
      name: 'policy_id',
      type: 'string',
      pattern: '[A-Za-z0-9]{1,32}',
      description: 'Policy ID. Change it whenever the policy changes.',
    },
    { name: 'policy_host', type: 'host', description: 'Web server that serves the policy.' },
    reports,
  ],
  records: [
    { type: 'TXT', name: '_mta-sts', content: 'v=STSv1; id={{policy_id}};', on_conflict: 'replace' },
    { type: 'CNAME', name: 'mta-sts', content: '{{policy_host}}', on_conflict: 'replace' },
    { type: 'TXT', name: '_smtp._tls', content: 'v=TLSRPTv1; rua=mailto:{{reports}}', on_conflict: 'replace' },
  ],
}

const builtin = (slug: string, name: string, description: string, content: TemplateContent): BuiltinTemplate => ({
  id: `tmpl_builtin_${slug}`,
  name,
  description,
  content,
  contentVersion: 1,
})

/** All built-in templates, by id. */
export const builtinTemplates: ReadonlyMap<string, BuiltinTemplate> = new Map(
  [
    builtin(
      'no_mail',
      'No mail',
      'For a domain that doesn’t receive or send mail: null MX, and SPF and DMARC that reject everything.',
      noMail,
    ),
    builtin('mail', 'Mail server', 'Your own mail server: MX, SPF, and DMARC.', mail),
    builtin(
      'microsoft_365',
      'Microsoft 365',
      'Exchange Online with autodiscover and SPF. Optional: DKIM and device enrollment.',
      microsoft365,
    ),
    builtin('google_workspace', 'Google Workspace', 'Gmail with SPF. Optional: DKIM.', googleWorkspace),
    builtin('acme_delegation', 'ACME delegation', 'Delegates ACME challenges to another name.', acmeDelegation),
    builtin('caa', 'CAA', 'Restricts which CAs may issue certificates.', caa),
    builtin('mta_sts', 'MTA-STS and TLS reports', 'Requires TLS for incoming mail and requests failure reports.', mtaSts),
  ].map(one => [one.id, one]),
)
