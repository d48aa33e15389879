import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, importsOf, sourceFiles, type Import } from './sources'

// The layers of the program. Exceptions are in the lists below with their reasons; the lists may only shrink.

/** What programs without a database may use. */
const plainCore = [
  'src/core/net/',
  'src/dns/',
  'src/core/log',
  'src/core/clock',
  'src/core/crypto',
  'src/core/garbage-collector',
  'src/core/ids',
  'src/core/problem',
  'src/core/random',
  'src/core/regex',
  'src/core/sha256',
  'src/core/time-slices',
  // Check options use the same schemas as everything else; it only depends on TypeBox.
  'src/core/shapes',
  'src/core/thread',
  'src/core/version',
  'src/core/x509/certificate-request',
  'src/core/x509/der-writer',
  'src/core/x509/private-key',
]

/** What files in a folder may import of our own code, with the reason for the test output. */
const layers: [from: string, mayImport: string[], reason: string][] = [
  [
    'src/core/',
    // Settings contain DNS names.
    ['src/core/', 'src/dns/name', 'src/dns/format-error', 'migrations/', 'package.json'],
    'core knows nothing about the product and imports nothing above it',
  ],
  ['src/dns/', ['src/dns/', 'src/core/net/', 'src/core/time-slices'], 'the DNS protocol knows nothing about the product'],
  [
    'src/registry',
    ['src/access/limit-table', 'src/core/permissions', 'src/core/ids'],
    'the registry contains plain values, and the dashboard imports it',
  ],
  ['src/access/', ['src/access/', 'src/registry', 'src/core/'], 'access only uses core; the API and the features come above it'],
  ['src/api/', ['src/api/', 'src/access/', 'src/registry', 'src/core/'], 'the API knows no feature'],
  ['src/checks/', ['src/checks/', ...plainCore], 'checks also run in the probe, which has no database'],
  ['src/wire/', ['src/wire/', ...plainCore], 'messages are shared with the agent and the probe'],
  [
    'src/adapters/',
    ['src/adapters/', 'src/api/', 'src/access/', 'src/registry', 'src/core/'],
    'the adapter kit knows no kind of adapter',
  ],
  [
    'src/vendors/',
    ['src/vendors/', 'src/adapters/', 'src/dns/octets', 'src/core/'],
    'APIs of vendors know nothing of the features whose adapters use them',
  ],
  [
    'src/features/',
    [
      'src/features/',
      'src/vendors/',
      'src/adapters/',
      'src/checks/',
      'src/wire/',
      'src/api/',
      'src/access/',
      'src/registry',
      'src/dns/',
      'src/core/',
    ],
    'features don’t know the hub, the command line or the programs',
  ],
  [
    'src/docs/',
    ['src/docs/', 'src/adapters/', 'src/features/', 'src/api/', 'src/access/', 'src/core/'],
    'pages are generated from features',
  ],
  [
    'src/dashboard/',
    [
      'src/dashboard/',
      'src/features/',
      'src/api/',
      'src/access/',
      'src/registry',
      'src/dns/',
      'src/core/',
      'src/docs/ping-examples.md',
      'src/docs/webhooks.md',
      'src/docs/outline',
    ],
    'the dashboard uses /v1 and its shapes',
  ],
  [
    'src/hub/',
    [
      'src/hub/',
      'migrations/',
      'src/docs/',
      'src/dashboard/',
      'src/features/',
      'src/checks/',
      'src/wire/',
      'src/api/',
      'src/access/',
      'src/registry',
      'src/dns/',
      'src/core/',
    ],
    'the hub combines the features; commands come above it',
  ],
  [
    'src/cli/',
    [
      'src/cli/',
      'src/hub/',
      'src/features/',
      'src/api/',
      'src/access/',
      'src/checks/',
      'src/dns/',
      'src/core/',
      'src/wire/',
      'src/agent/run',
      'src/probe/run',
    ],
    'commands start programs and use the hub; entry points come above them',
  ],
  ['src/agent/', ['src/agent/', 'src/checks/', 'src/wire/', ...plainCore], 'the agent contains nothing of the hub'],
  ['src/probe/', ['src/probe/', 'src/checks/', 'src/wire/', ...plainCore], 'the probe contains nothing of the hub'],
  [
    'src/bin/',
    [
      'src/bin/',
      'src/cli/index',
      'src/agent/run',
      'src/probe/run',
      'src/features/dns/server/thread',
      'src/core/db/checkpoint-thread',
      'src/checks/engine/thread',
      'src/core/version',
      // The build has an entry point too.
      'src/wire/agent-platforms',
      'src/wire/agent-version',
    ],
    'an entry point only starts a program',
  ],
]

/** Forbidden imports in addition to the layers: files, what they must not import, why. */
const forbiddenImports: [files: RegExp, refused: RegExp, reason: string, typesToo?: boolean][] = [
  [
    /^src\/(features|access)\/(.*[/-])?(routes|ingest)\.ts$/,
    /^src\/core\/(db\/|change(-result)?$)|[/-]tables$|^drizzle-orm/,
    'routes only declare shapes, guards and handlers; the logic is in the handlers',
  ],
  [
    /^src\/(agent|probe|checks|wire)\//,
    /^(drizzle-orm|elysia|@elysiajs\/|bun:sqlite|commander)/,
    'programs without a database stay small',
  ],
  [
    /^src\/features\/dns\/server\//,
    /^src\/(core\/(db\/|change(-result)?$|ctx$|hub$)|access\/|api\/)|[/-]tables$|^drizzle-orm/,
    'the name server runs in its own thread and only gets plain values',
  ],
  [
    /^src\/(features\/([^/]+\/(providers|clouds|controllers|channels)|registrars\/kinds)\/|adapters\/[^/]+$|vendors\/)/,
    /^src\/(core\/(db\/|change(-result)?$|ctx$|hub$)|adapters\/accounts\/)|[/-]tables$/,
    'adapters take and return plain values',
  ],
  [
    /^src\/dashboard\//,
    /^src\/(features|api|access(?!\/limit-table$))\/|^src\/core\/(?!clock$|permissions$)/,
    'imports of pages are sent to every browser: only types, and the few files that import nothing',
    false,
  ],
  [
    /^src\/features\/(?!webhooks\/|overview\/|limits\/)[^/]+\//,
    /^src\/features\/webhooks\//,
    'signed messages are sent with core/outgoing; only the features listed here use verbs of webhooks',
  ],
  // The benchmark compares the hub with the same query on the bare runtime.
  [
    /^src\/(?!core\/db\/|cli\/bench\/)/,
    /^(bun:sqlite|drizzle-orm\/(bun-sqlite|bun-sql|sqlite-core|pg-core))/,
    'only core/db depends on the database engine',
    false,
  ],
]

/** What features offer to other features, in addition to their shapes. Everything else is private. */
const publicModules: Record<string, string[]> = {
  acme: ['managed-certificates/issue-names'],
  actions: ['actions', 'kind', 'open-actions', 'start'],
  audit: ['list'],
  certificates: [
    'gaps-job',
    'inventory-read',
    'issued',
    'known',
    'life',
    'paths',
    'record',
    'revocation/chain-revocation',
    'served',
    'summary',
  ],
  coverage: ['kinds', 'summary'],
  dns: [
    'challenges/challenges',
    'challenges/visible',
    'records/certificate-names',
    'records/driven',
    'records/listing',
    'zones/counts',
    'zones/delegated-zones',
    'zones/zones',
  ],
  domains: ['account-domains', 'ending', 'sync-account-job'],
  'dynamic-ips': ['drive-links', 'firewall-rules', 'rule-links', 'summary'],
  events: ['relations'],
  heartbeats: ['all-heartbeats', 'counts', 'heartbeats', 'watching'],
  incidents: [
    'outages/acknowledged-outages',
    'outages/event-data',
    'incidents',
    'outages/outage',
    'outages/outages',
    'relation',
    'subject',
  ],
  maintenance: ['all-windows', 'calendar', 'schedule', 'summary', 'targets', 'view', 'windows'],
  monitors: [
    'at-addresses',
    'certificates-seen',
    'check-now',
    'counts',
    'of-servers',
    'scan-tls',
    'server-states',
    'statuses',
    'tls-targets',
    'watching',
  ],
  notices: ['notices'],
  notifications: [
    'acknowledge-link',
    'channel-references',
    'delivery/delivery-jobs',
    'message',
    'channel-counts',
    'delivery/notify',
  ],
  people: ['invitations/invitations', 'invitations/revocation', 'members/members', 'system-mail'],
  registry: ['facts-job', 'interests', 'known', 'profiles', 'reading', 'registry-date', 'sources', 'statuses'],
  servers: ['agents/certificates', 'live/live-servers', 'live/read', 'summary'],
  'tls-endpoints': ['following', 'grade-counts', 'last-scans', 'scans/scan-again'],
  tokens: ['expiry'],
  webhooks: ['endpoints/counts', 'endpoints/plan-limit', 'sending/workspace-rate'],
}

/**
 * Files and folders of features that import no database, directly or through others: values in, values out. Shapes and tables only
 * import these.
 */
const pureFiles = [
  'acme/client/',
  'acme/keys',
  'event-kinds',
  'notice-kinds',
  'certificates/examples',
  'certificates/findings',
  'certificates/known',
  'certificates/life',
  'certificates/places',
  'calendar/contents',
  'contacts/address-rules',
  'contacts/countries',
  'contacts/fields',
  'contacts/registrar-kinds',
  'contacts/requirements',
  'coverage/caa',
  'coverage/covered-names',
  'coverage/ct/kinds',
  'coverage/gaps',
  'coverage/kinds',
  'coverage/names',
  'coverage/reconcile',
  'coverage/scanned-endpoints',
  'coverage/wanted-endpoints',
  'domains/effective-end',
  'domains/expiring',
  'domains/moves',
  'domains/statuses',
  'dns/event-kinds',
  'dynamic-ips/addresses',
  'dynamic-ips/configs/client-config',
  'dynamic-ips/ingest/answers/',
  'dynamic-ips/ingest/judge',
  'dynamic-ips/turns',
  'dns/changes/rrset-rules',
  'dns/lint/rules',
  'dns/plans/guards',
  'dns/providers/',
  'dns/records/spf',
  'dns/records/values',
  'dns/server/',
  'dns/sync/fingerprint',
  'dns/sync/order',
  'dns/sync/three-way',
  'dns/templates/content',
  'dns/templates/render',
  'dns/zones/names',
  'heartbeats/schedule/calendar',
  'heartbeats/schedule/schedule',
  'heartbeats/status/state',
  'incidents/outages/evidence',
  'maintenance/occurrences',
  'maintenance/recurrence',
  'monitors/series/uptime',
  'monitors/verdict/',
  'notifications/channels/',
  'notifications/delivery/digest',
  'notifications/delivery/pacing',
  'notifications/delivery/quiet-hours',
  'notifications/message',
  'notifications/message-kinds',
  'registrars/kinds/',
  'registrars/registrar',
  'servers/actions/verbs',
  'servers/agents/agent-user-data',
  'servers/agents/enrolment',
  'servers/agents/install-commands',
  'servers/agents/runs',
  'servers/clouds/',
  'servers/controllers/',
  'servers/firewalls/rules',
  'servers/health',
  'servers/labels',
  'servers/metrics/names',
  'servers/money',
  'servers/ssh-keys/public-key',
  'tls-endpoints/grades/',
  'webhooks/sending/attempt-window',
]

/** Tables that other folders of their feature use, with the reason. Every entry must be needed. */
const sharedTables: [tables: string, folders: string[], reason: string][] = [
  ['acme/accounts', ['managed-certificates'], 'certificates are issued with an account'],
  ['acme/managed-certificates', ['accounts'], 'accounts in use can’t be deleted'],
  [
    'dns/zones',
    [
      'accounts',
      'aliases',
      'challenges',
      'changes',
      'history',
      'plans',
      'publish',
      'records',
      'sync',
      'targets',
      'templates',
      'transfers',
    ],
    'everything in DNS belongs to a zone',
  ],
  [
    'dns/records',
    ['aliases', 'challenges', 'changes', 'drift', 'exchange', 'history', 'plans', 'publish', 'sync', 'targets', 'zones'],
    'these folders read or replace whole zones',
  ],
  [
    'dns/targets',
    ['accounts', 'drift', 'exchange', 'records', 'sync'],
    'sync targets refer to accounts, syncs update their state, and lists include unmanaged records',
  ],
  ['dns/plans', ['targets'], 'the sync status of a zone includes the plan that blocks it'],
  ['dns/accounts', ['plans', 'targets'], 'a sync target is synced with the settings of its account'],
  ['dns/transfers', ['zones'], 'names of new zones must not conflict with catalogs'],
  ['servers/server-controllers', ['.', 'actions'], 'servers show their controllers and what they measure, and actions use them'],
  [
    'servers/accounts',
    ['.', 'actions', 'firewalls', 'metrics', 'snapshots', 'volumes'],
    'servers belong to an account, where actions and firewalls change them and metrics are read',
  ],
  [
    'servers/agents',
    ['agents/ingest', 'certificates'],
    'requests of agents are authenticated, and their reports stored and taken over into the inventory of certificates',
  ],
  ['servers/enrolment-keys', ['agents', 'agents/ingest'], 'agents are enrolled with keys'],
  ['servers/firewalls', ['metrics'], 'metrics of firewalls end with them'],
  [
    'servers/volumes',
    ['.', 'accounts', 'metrics', 'snapshots'],
    'prices add up, readings find them, they outlive their server, and their metrics end with them',
  ],
  [
    'servers/snapshots',
    ['.', 'accounts', 'actions', 'snapshot-policies', 'volumes'],
    'actions on servers and volumes create and restore them, policies create and delete them, and readings of accounts find them',
  ],
  ['people/passkeys', ['.', 'second-factors'], 'passkeys are a second factor, and users show whether they have one'],
  ['people/password-resets', ['.', 'profile'], 'changes of a user or a password revoke the reset links'],
  ['webhooks/endpoints', ['deliveries', 'sending'], 'deliveries follow the settings and the status of their endpoint'],
  ['webhooks/deliveries', ['endpoints', 'sending'], 'sending updates deliveries, and endpoints count them'],
]

/** Code that is only allowed in one place: what, the files that may contain it, why. */
const places: [what: string, pattern: RegExp, allowed: RegExp, reason: string][] = [
  [
    'process.env',
    /\bprocess\.env\b|\bBun\.env\b|import\.meta\.env\b/,
    // The runtime takes its own settings only from the environment.
    /^src\/(core\/(config|db\/drizzle\.config)|agent\/small-runtime)\.ts$/,
    'all settings are read in core/config.ts',
  ],
  [
    'Date.now',
    /\bDate\.now\b|\bnew Date\(\s*\)/,
    /^src\/core\/clock\.ts$/,
    'time comes from a clock, so that tests can control it',
  ],
  [
    'fetch',
    /(?<![.\w])fetch\(|\b(globalThis|Bun)\.fetch\(/,
    // The agent connects to one address, which root wrote into a file, and the checks would cost it a fifth of its memory.
    /^src\/(core\/net\/guarded-fetch\.ts$|agent\/transport\/hub-fetch\.ts$|dashboard\/)/,
    'outgoing requests are checked against private addresses',
  ],
  ['console', /(?<![.\w])console\./, /^src\/(cli\/|core\/log\.ts$)/, 'programs log; only commands print'],
  ['transact', /\.transact\b/, /^src\/core\/(change\.ts$|db\/)/, 'all writes go through core/change, with an audit event'],
  ['db.transaction', /\.transaction\(/, /^src\/core\/db\/store\.ts$/, 'on SQLite, it commits at the first await'],
  [
    'engine',
    /\bisPostgres\b/,
    /^src\/(core\/db\/|core\/jobs\/claim\.ts$|hub\/(run|presence|health)\.ts$)/,
    'the same code works on both engines',
  ],
]

const imports: Import[] = sourceFiles.flatMap(importsOf)
const own = imports.filter(one => /^(src|migrations|package)/.test(one.of))
const betweenFeatures = own.flatMap(one => {
  const from = /^src\/features\/([^/]+)\//.exec(one.file)?.[1]
  const [, feature, module] = /^src\/features\/([^/]+)\/(.+)$/.exec(one.of) ?? []
  return from && feature && from !== feature ? [{ ...one, to: [feature, module!] as [string, string] }] : []
})

describe('layers', () => {
  test.each(layers)('%s', (from, mayImport, reason) => {
    const wrong = own.filter(one => one.file.startsWith(from) && !mayImport.some(place => one.of.startsWith(place)))
    expect(listed(wrong, reason)).toEqual([])
  })

  test('every file belongs to a layer', () => {
    expect(sourceFiles.filter(file => !layers.some(([from]) => file.startsWith(from)))).toEqual([])
  })

  test('imports are detected', () => {
    expect(imports.length).toBeGreaterThan(sourceFiles.length)
    expect(own.some(one => one.typesOnly)).toBe(true)
  })
})

describe('forbidden imports', () => {
  test.each(forbiddenImports)('of %p: %p', (files, refused, reason, typesToo = true) => {
    const wrong = imports.filter(one => files.test(one.file) && refused.test(one.of) && (typesToo || !one.typesOnly))
    expect(listed(wrong, reason)).toEqual([])
  })

  test('a feature only uses the public modules of another', () => {
    const isPublic = (feature: string, module: string) =>
      isShapes(`/${module}`) || publicModules[feature]?.includes(module) === true
    const wrong = betweenFeatures.filter(one => !isPublic(...one.to))
    expect(listed(wrong, 'not in publicModules')).toEqual([])
  })

  test('public modules are used by other features and contain no tables, routes or jobs', () => {
    const used = new Set(betweenFeatures.map(one => one.to.join('/')))
    const modules = Object.entries(publicModules).flatMap(([feature, names]) => names.map(name => `${feature}/${name}`))
    expect(modules.filter(one => !used.has(one) || /(^|[/-])(tables|routes|ingest)$/.test(one))).toEqual([])
  })

  test('only the hub imports routes', () => {
    const wrong = own.filter(one => one.of.startsWith('src/') && isRoutes(one.of) && !one.file.startsWith('src/hub/'))
    expect(listed(wrong, 'routes call operations, not the other way around')).toEqual([])
  })

  test('shapes and tables import no operations', () => {
    const isDeclaration = (path: string) => isShapes(path) || isTables(path)
    const wrong = own.filter(
      one =>
        !one.typesOnly && isFeature(one.of) && isDeclaration(moduleOf(one.file)) && !isDeclaration(one.of) && !isPure(one.of),
    )
    expect(listed(wrong, 'they only import shapes, tables, and pureFiles')).toEqual([])
  })

  test.each(pureFiles)('%s imports no database', place => {
    const files = [...byFile.keys()].filter(file => isAt(file, place))
    expect(files).not.toEqual([])
    expect(files.flatMap(file => pathToDatabase(file) ?? [])).toEqual([])
  })

  test('tables are only used in their folder, except where listed', () => {
    const folderOf = (path: string) => /^src\/features\/(.+)\/[^/]+$/.exec(path)?.[1] ?? ''
    const used = own
      .filter(one => isTables(one.of) && folderOf(one.of).includes('/') && !one.typesOnly && !isTables(moduleOf(one.file)))
      .filter(one => isFeature(one.file) && folderOf(one.file) !== folderOf(one.of))
      .map(one => `${folderOf(one.of)} in ${folderOf(one.file)}`)
    const expected = sharedTables.flatMap(([tables, folders]) =>
      folders.map(folder => `${tables} in ${join(tables, '..', folder)}`),
    )
    expect([...new Set(used)].sort()).toEqual(expected.sort())
  })

  test('there are no cycles of files, type imports included', () => {
    expect(cycles(byFile)).toEqual([])
  })

  test('there are no cycles of features', () => {
    expect(cycles(featureImports())).toEqual([])
  })
})

describe('code that is only allowed in one place', () => {
  test.each(places)('%s', (what, pattern, allowed, reason) => {
    const wrong = sourceFiles.filter(file => !allowed.test(file) && pattern.test(codeOf(file)))
    expect(wrong.map(file => `${file} has ${what}: ${reason}`)).toEqual([])
  })
})

test('the top level of the repository contains only expected files', () => {
  const allowed = [
    'package.json',
    'tsconfig.json',
    'bunfig.toml',
    'bun.lock',
    'src',
    'migrations',
    'test',
    'Dockerfile',
    'README.md',
    'LICENSE',
    '.ci',
    '.dockerignore',
    '.git',
    '.gitignore',
    '.oxlintrc.json',
  ]
  const ignored = readFileSync('.gitignore', 'utf8')
    .split('\n')
    .map(line => line.replace(/\/$/, ''))
  expect(readdirSync('.').filter(name => !allowed.includes(name) && !ignored.includes(name))).toEqual([])
})

const moduleOf = (file: string) => file.replace(/\.tsx?$/, '')
const isFeature = (path: string) => path.startsWith('src/features/')
const isRoutes = (path: string) => /[/-](routes|ingest)$/.test(path)
const isShapes = (path: string) => /[/-]shapes$/.test(path)
const isTables = (path: string) => /[/-]tables$/.test(path)
const isAt = (path: string, place: string) =>
  place.endsWith('/') ? path.startsWith(`src/features/${place}`) : path === `src/features/${place}`
const isPure = (path: string) => pureFiles.some(place => isAt(path, place))

/** The chain of imports from a file to the database, types of tables and of our own files not counted; null if there is none. */
function pathToDatabase(file: string, seen = new Set<string>()): string | null {
  seen.add(file)
  for (const one of importsByModule.get(file) ?? []) {
    const path = `${file} → ${one.of}`
    if (/^src\/core\/(db\/|change(-result)?$|ctx$|hub$|jobs\/)|^drizzle-orm/.test(one.of)) return path
    if (one.typesOnly || one.of.startsWith('src/core/') || seen.has(one.of)) continue
    const rest = pathToDatabase(one.of, seen)
    if (rest) return `${file} → ${rest}`
  }
  return null
}

const listed = (wrong: Import[], reason: string) => wrong.map(one => `${one.file} imports ${one.of}: ${reason}`)

const importsByModule = new Map(sourceFiles.map(file => [moduleOf(file), importsOf(file)]))
const byFile = new Map([...importsByModule].map(([file, found]) => [file, found.map(one => one.of)]))

/** Features with the features that they import. */
function featureImports(): Map<string, Set<string>> {
  const featureOf = (path: string) => /^src\/features\/([^/]+)\//.exec(path)?.[1]
  const byFeature = new Map<string, Set<string>>()
  for (const { file, of } of own) {
    const [from, to] = [featureOf(file), featureOf(of)]
    if (from && to && from !== to) byFeature.set(from, (byFeature.get(from) ?? new Set()).add(to))
  }
  return byFeature
}

/** Cyclic chains of imports. */
function cycles(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (node: string, path: string[]): void => {
    if (path.includes(node)) {
      found.push([...path.slice(path.indexOf(node)), node].join(' → '))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}
