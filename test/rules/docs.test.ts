import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json'
import { settings } from '../../src/core/config'
import { eventKinds } from '../../src/features/event-kinds'
import { noticeKindNames } from '../../src/features/notice-kinds'
import { areas, permissions } from '../../src/core/permissions'
import { problemKinds } from '../../src/core/problem'
import { tags } from '../../src/hub/openapi-tags'
import { limitNames, limitTable } from '../../src/access/limit-table'
import { initialPlans } from '../../src/access/plans'
import { checkErrorKinds } from '../../src/checks/check'
import { checkTypes } from '../../src/checks'
import { createProgram } from '../../src/cli'
import { pages } from '../../src/docs'
import { pageHtml, sectionOf } from '../../src/docs/render'
import { providerKinds } from '../../src/features/dns/providers'
import { channelKinds } from '../../src/features/notifications/channels'
import { registrarKinds } from '../../src/features/registrars/kinds'
import { cloudKinds } from '../../src/features/servers/clouds'
import { serverVerbs } from '../../src/features/servers/clouds/cloud'
import { controllerKinds } from '../../src/features/servers/controllers'
import { verbRules } from '../../src/features/servers/actions/verbs'
import { metricUnits } from '../../src/features/servers/metrics/names'
import { serverStatuses } from '../../src/features/servers/shapes'
import { messageHeaders } from '../../src/hub/openapi-webhooks'
import { gradeRules, ruleNames } from '../../src/features/tls-endpoints/grades/grade'
import { world } from '../support/world'

const root = join(import.meta.dir, '../..')
const text = (slug: string) => pages.find(page => page.slug === slug)!.markdown
const headings = (slug: string) =>
  [
    ...text(slug)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/^## (.+)$/gm),
  ].map(match => match[1]!)
const everything = pages.map(page => page.markdown).join('\n')

test('each setting has a heading, in the order of the code, with its flag and default', () => {
  expect(headings('settings')).toEqual(Object.values(settings).map(one => one.variable))
  for (const { variable, default: fallback, flag } of Object.values(settings) as {
    variable: string
    default: string | null
    flag?: string
  }[]) {
    const section = sectionOf(
      pages.find(page => page.slug === 'settings')!,
      variable,
    )
    expect([variable, section]).toEqual([
      variable,
      expect.stringContaining(
        fallback === null ? 'Not set by default' : fallback === '' ? 'Empty by default' : `Default \`${fallback}\``,
      ),
    ])
    if (flag) expect(section).toContain(`Flag \`${flag}\``)
  }
})

test('each metric is in a table with its unit', () => {
  const rows = text('server-metrics')
    .split('\n')
    .flatMap(line => {
      const [, names = '', unit = ''] = /^\| (`.+`) \| (.+) \|$/.exec(line) ?? []
      return [...names.matchAll(/`([a-z0-9_.]+)`/g)].map(match => [match[1]!, unit] as const)
    })
  const units = new Map(rows)
  const words: Record<string, RegExp> = {
    bytes: /bytes(?! per second,?$)/i,
    celsius: /degrees Celsius/i,
    count: /counts/i,
    load: /load averages/i,
    ms: /milliseconds/i,
    rpm: /revolutions per minute/i,
  }
  for (const [name, unit] of Object.entries(metricUnits))
    expect([name, units.get(name)]).toEqual([
      name,
      expect.stringMatching(words[unit] ?? new RegExp(unit.replaceAll('_', ' '), 'i')),
    ])
})

test('each error code has a heading, in the order of the code', () => {
  expect(headings('problems')).toEqual(Object.keys(problemKinds))
})

test('each command has a heading, in the order of the help', () => {
  expect(headings('commands')).toEqual(
    createProgram(() => {}, { nameServer: '', checks: '', checkpoints: '' }).commands.map(one => `bailiwick ${one.name()}`),
  )
})

test('the retention page lists exactly the scheduled tasks that delete data', async () => {
  const schedule = await Bun.file(join(root, 'src/hub/scheduled-tasks.ts')).text()
  const deleting = [...schedule.matchAll(/name: '((?:prune|thin)-[a-z-]+)'/g)].map(match => match[1]!)
  expect(deleting.length).toBeGreaterThan(10)
  const listed = [...text('retention').matchAll(/`((?:prune|thin)-[a-z-]+)`/g)].map(match => match[1]!)
  expect([...new Set(listed)].sort()).toEqual([...new Set(deleting)].sort())
})

test('the retention page lists each plan limit in days', () => {
  const days = Object.keys(initialPlans[0]!.limits).filter(name => name.endsWith('_days'))
  expect(days.filter(name => !text('retention').includes(`\`${name}\``))).toEqual([])
})

test('exactly the dependencies are listed', () => {
  const named = [...text('dependencies').matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(line =>
    [...line[1]!.matchAll(/`([^`]+)`/g)].map(name => name[1]!),
  )
  expect(named.sort()).toEqual([...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)].sort())
})

test('each area has a row with its permissions, and no unknown permission is mentioned', () => {
  expect([...text('tokens').matchAll(/^\| (\w+) \| `\w+\.read` `\w+\.write` \|/gm)].map(match => match[1]!)).toEqual([...areas])
  for (const one of permissions) expect(text('tokens')).toContain(`\`${one}\``)
  for (const [, name] of everything.matchAll(/`(\w+\.(?:read|write))`/g)) expect(permissions).toContain(name as never)
})

test('each plan limit has a row with its description and initial values', () => {
  const lines = [...text('plans').matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)]
  const number = (limit: number | null) => (limit === null ? '–' : limit.toLocaleString('en'))
  expect(lines.map(match => match.slice(1))).toEqual(
    limitNames.map(name => [name, limitTable[name].description, ...initialPlans.map(plan => number(plan.limits[name]))]),
  )
})

test('each plan has a row with its limits', () => {
  const number = (limit: number | null) => (limit === null ? '–' : limit.toLocaleString('en'))
  for (const { id, apiAccess, limits } of initialPlans) {
    const cells = [
      id,
      apiAccess,
      ...[
        limits.requests_per_minute_per_token,
        limits.requests_per_hour_per_workspace,
        limits.webhook_endpoints,
        limits.tokens,
        limits.heartbeats,
      ].map(number),
    ]
    expect(text('tokens')).toContain(`| ${cells.join(' | ')} |`)
  }
})

test('each rule of TLS grades has a heading, with its fix and the configuration of servers', () => {
  const sections = text('tls-grades').split(/^### /m).slice(1)
  expect(sections.map(one => one.split('\n', 1)[0] as string)).toEqual(ruleNames)
  for (const [at, name] of ruleNames.entries())
    for (const part of [gradeRules[name].fix, ...Object.values(gradeRules[name].configs)])
      if (part !== null) expect(sections[at]).toContain(part)
})

test('each event kind has a row with its area, and no unknown kind is mentioned', () => {
  const lines = [...text('webhooks').matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (\w+) \|/gm)].map(match => [match[1], match[2]])
  expect(lines).toEqual(eventKinds.map(one => [one.kind, one.area]))
  const prefixes = new Set(eventKinds.map(one => one.kind.split('.')[0]))
  // `data.kind` of an alert has different values.
  const known = new Set([
    ...eventKinds.map(one => one.kind),
    ...permissions,
    ...noticeKindNames,
    ...serverVerbs.map(verb => `server.${verb}`),
    ...Object.keys(metricUnits),
    'firewall.apply',
    'certificate.issue',
    'certificate.revoke',
    'heartbeat.missed',
    'certificate.gap',
  ] as string[])
  for (const [, name] of everything.matchAll(/`([a-z_]+\.[a-z_]+)`/g)) {
    if (prefixes.has(name!.split('.')[0]!)) expect(known).toContain(name!)
  }
})

test('each kind of DNS provider has a row', () => {
  const [, table] = /^## Capabilities\n\n((?:\|.+\n)+)/m.exec(text('dns-providers'))!
  expect([...table!.matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1]!)).toEqual(providerKinds.map(one => one.kind))
})

test('each kind of registrar has a row, a section, and a table of its settings', () => {
  const page = text('registrars')
  for (const { kind, settings } of registrarKinds) {
    expect(page).toContain(`| [\`${kind}\`](#`)
    expect(headings('registrars').map(one => one.toLowerCase().replaceAll('.', ''))).toContain(kind)
    for (const name of Object.keys(settings.properties))
      expect([kind, name, page.includes(`\`${name}\``)]).toEqual([kind, name, true])
  }
})

test('each kind of cloud has a row with its interval', () => {
  const rows = [...text('cloud-accounts').matchAll(/^\| (?:\[)?`(\w+)`.* \| every (\d+) seconds \|$/gm)]
  expect(rows.map(match => match.slice(1))).toEqual(cloudKinds.map(one => [one.kind, String(one.syncSeconds)]))
})

test('each action on servers has a row with its time limit, and each status a row', () => {
  const rows = [
    ...text('server-actions').matchAll(/^\| ((?:`\w+`(?:, )?)+) \| .+ \| (\d+) min(?:, plus `timeout_seconds`)? \|$/gm),
  ]
  const limits = rows.flatMap(([, names, minutes]) =>
    [...names!.matchAll(/`(\w+)`/g)].map(match => [match[1]!, Number(minutes) * 60_000] as const),
  )
  expect(limits).toEqual(serverVerbs.map(verb => [verb, verbRules[verb].limitMs] as const))
  const [, table] = /^### Status\n\n((?:\|.+\n)+)/m.exec(text('servers'))!
  const statuses = [...table!.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`(\w+)`/g)].map(match => match[1]!),
  )
  expect(statuses.sort()).toEqual([...serverStatuses].sort())
})

test('each kind of controller has a heading, and a row with its verbs', () => {
  expect(headings('controllers')).toEqual(expect.arrayContaining(controllerKinds.map(one => one.title)))
  const rows = [...text('controllers').matchAll(/^\| \[`(\w+)`\]\(#[\w-]+\) \| (.+?) \| (yes|no) \|/gm)]
  expect(rows.map(match => match.slice(1))).toEqual(
    controllerKinds.map(one => [one.kind, one.verbs.map(verb => `\`${verb}\``).join(', '), one.readsPower ? 'yes' : 'no']),
  )
})

test('each check type has a heading, and each option and error kind a row', () => {
  const page = pages.find(one => one.slug === 'checks')!
  for (const { name, options } of checkTypes) {
    const lines = [...sectionOf(page, name).matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1]!)
    expect([name, lines]).toEqual([name, expect.arrayContaining(Object.keys(options.properties))])
  }
  expect([...page.markdown.matchAll(/^\| `(\w+)` \| [A-Z]/gm)].map(match => match[1]!)).toEqual(
    expect.arrayContaining([...checkErrorKinds]),
  )
})

test('each kind of notification channel has a heading', () => {
  expect(headings('notifications')).toEqual(expect.arrayContaining(channelKinds.map(one => one.title)))
})

test('each message header has a row', () => {
  const named = [...text('webhooks').matchAll(/^\| `((?:X-Service|webhook)-[^`]+)` \|/gm)].map(match => match[1]!)
  expect(named.sort()).toEqual(Object.keys(messageHeaders).sort())
})

test('every path that is mentioned is served', async () => {
  const { app } = await world()
  const patterns = app.routes.map(route => route.path.split('/'))
  const served = (path: string) =>
    patterns.some(pattern => {
      const parts = path.replace(/\/$/, '').split('/')
      return pattern.length === parts.length && pattern.every((part, place) => part.startsWith(':') || part === parts[place])
    })
  // In code and links, with or without a method, without query and fragment.
  const named = [
    ...everything.matchAll(
      /(?:`|\b(?:GET|POST|PATCH|PUT|DELETE) |\]\(|localhost:8484)(\/(?:v1|docs|problems|ping|api|swagger|healthz|readyz|metrics)[^\s`)?#'"]*)/g,
    ),
  ].map(match => match[1]!)
  expect(named.length).toBeGreaterThan(40)
  // Prefixes of paths, which are not served themselves.
  const prefixes = new Set(['/v1', '/v1/ingest', '/v1/ingest/heartbeats', '/ping'])
  expect([...new Set(named)].filter(path => !prefixes.has(path) && !served(path))).toEqual([])
})

test('every link to the handbook leads to an existing page and heading', async () => {
  const ids = new Map(
    pages.map(page => [page.slug, new Set([...pageHtml(page.slug)!.matchAll(/ id="([^"]*)"/g)].map(match => match[1]!))]),
  )
  ids.set('search', new Set())
  const isMissing = (slug: string, anchor: string | undefined) => !ids.has(slug) || (anchor && !ids.get(slug)!.has(anchor))
  const missing: string[] = []
  let count = 0
  const check = (from: string, link: string, slug: string, anchor?: string) => {
    count++
    if (isMissing(slug, anchor)) missing.push(`${from}: ${link}`)
  }
  for (const page of pages)
    for (const [, link] of pageHtml(page.slug)!.matchAll(/ href="([^"]+)"/g)) {
      const [, slug, anchor] = /^(?:\/docs\/([^#]+))?(?:#(.+))?$/.exec(link!) ?? []
      if (slug || anchor) check(page.slug, link!, slug ?? page.slug, anchor)
    }
  // Links in the dashboard, in descriptions of the API, in messages, and in the README.
  for (const file of [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(root), 'README.md']) {
    if (file.endsWith('.test.ts')) continue
    const source = await Bun.file(join(root, file)).text()
    for (const [link, slug, anchor] of source.matchAll(/(?<![\w./])\/docs\/([a-z][a-z-]*)(?:#([\w-]+))?(?![\w.-]*\.\w)/g))
      check(file, link, slug!, anchor)
    for (const [link, slug, anchor] of source.matchAll(/\(src\/docs\/([a-z-]+)\.md(?:#([\w-]+))?\)/g))
      check(file, link, slug!, anchor)
  }
  expect(count).toBeGreaterThan(1000)
  expect(missing).toEqual([])
})

test('every file that is mentioned exists', () => {
  const named = [...everything.matchAll(/`((?:src|test|migrations)(?:\/[\w./-]+)?)`/g)].map(match => match[1]!)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(path => !existsSync(join(root, path)))).toEqual([])
})

test('every page has one title, and its headings have unique anchors', () => {
  for (const page of pages) {
    expect([page.slug, page.markdown.match(/^# /gm)?.length]).toEqual([
      page.slug,
      1 + (page.markdown.match(/^```[\s\S]*?^```/gm) ?? []).join('\n').split(/^# /m).length - 1,
    ])
    const ids = [...pageHtml(page.slug)!.matchAll(/<h\d id="([^"]*)"/g)].map(match => match[1]!)
    expect([page.slug, ids.length, ids.includes('')]).toEqual([page.slug, new Set(ids).size, false])
  }
})

test('every API tag has a description', () => {
  expect(tags.filter(tag => !/^[A-Z].*\.$/.test(tag.description))).toEqual([])
})

// The test vector of the handbook.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const message = {
  id: 'msg_01k3z8q4g7e2wv5m9x0c6hbtfn',
  timestamp: '1795255200',
  body: '{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2027-01-31"}}',
}
const signature = /webhook-signature: (v1,\S+)/.exec(text('webhooks'))![1]!
const snippet = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?verify[\\s\\S]*?)^\`\`\``, 'm').exec(text('webhooks'))![1]!
const cases = [
  { name: 'the message', body: message.body, signature, right: true },
  { name: 'one of two signatures', body: message.body, signature: `v1,AAAA ${signature}`, right: true },
  { name: 'an altered body', body: message.body.replace('2027', '2028'), signature, right: false },
  { name: 'another signature', body: message.body, signature: `v1,${Buffer.alloc(32).toString('base64')}`, right: false },
  { name: 'no signature', body: message.body, signature: '', right: false },
]

test.each(cases)('the JavaScript of the handbook verifies $name correctly', async one => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-docs-'))
  try {
    // The test vector is old, so set the clock to its time.
    await Bun.write(
      join(folder, 'verify.mjs'),
      `${snippet('js')}
Date.now = () => ${message.timestamp}000
const headers = ${JSON.stringify({ 'webhook-id': message.id, 'webhook-timestamp': message.timestamp, 'webhook-signature': one.signature })}
console.log(verify('${secret}', headers, ${JSON.stringify(one.body)}))
Date.now = () => ${message.timestamp}000 + 301_000
console.log(verify('${secret}', headers, ${JSON.stringify(one.body)}))`,
    )
    expect(await printed([process.execPath, join(folder, 'verify.mjs')])).toBe(`${one.right}\nfalse\n`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each(cases)('the Bash of the handbook verifies $name correctly', async one => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-docs-'))
  try {
    await Bun.write(join(folder, 'body'), one.body)
    await Bun.write(
      join(folder, 'verify.sh'),
      `${snippet('bash')}
date() { echo ${message.timestamp}; }
verify '${secret}' '${message.id}' '${message.timestamp}' '${one.signature}' '${join(folder, 'body')}' && echo true || echo false
date() { echo $((${message.timestamp} + 301)); }
verify '${secret}' '${message.id}' '${message.timestamp}' '${one.signature}' '${join(folder, 'body')}' && echo true || echo false`,
    )
    expect(await printed(['bash', join(folder, 'verify.sh')])).toBe(`${one.right}\nfalse\n`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

async function printed(command: string[]): Promise<string> {
  const run = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  return await new Response(run.stdout).text()
}
