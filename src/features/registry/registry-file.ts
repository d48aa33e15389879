import { readFileSync } from 'node:fs'
import { Type, type Static } from '@sinclair/typebox'
import { InvalidSetting, type Config } from '../../core/config'
import { Shape, Words } from '../../core/shapes'
import { fieldProblems } from '../../core/validate'
import type { LifecycleProfile } from './profiles'
import { whoisForms } from './whois-forms'

const Tld = Type.String({ pattern: '^[a-z0-9-]{1,63}$' })
const Name = Type.String({ pattern: '^[a-z0-9_-]+(\\.[a-z0-9_-]+)+$', maxLength: 253 })
const Days = Type.Union([Type.Integer({ minimum: 0, maximum: 3650 }), Type.Null()])
const Text = Type.String({ minLength: 1, maxLength: 500 })

const RegistryFile = Shape({
  sources: Type.Optional(
    Type.Array(
      Shape({
        tlds: Type.Array(Tld, { minItems: 1, maxItems: 2000 }),
        kind: Words(['rdap', 'whois']),
        url: Type.Optional(Type.String({ pattern: '^https?://[^\\s?#@]+$', maxLength: 2000 })),
        host: Type.Optional(Type.String({ pattern: '^[a-z0-9.:-]+$', maxLength: 253 })),
        port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
        form: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,63}$' })),
      }),
      { maxItems: 1000 },
    ),
  ),
  canaries: Type.Optional(Type.Record(Tld, Name)),
  paces: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^(rdap|whois):[^/\\s]{1,260}$' }),
      Shape({
        seconds: Type.Optional(Type.Number({ minimum: 0.001, maximum: 3600 })),
        burst: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        per_day: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      }),
    ),
  ),
  profiles: Type.Optional(
    Type.Record(
      Tld,
      Shape({
        renewal_grace_days: Days,
        redemption_days: Days,
        pending_delete_days: Days,
        note: Type.Optional(Type.Union([Text, Type.Null()])),
        source: Text,
      }),
    ),
  ),
})

/** What the operator knows better: servers, canaries, paces by server, and life-cycle profiles. */
type RegistryFileContent = Omit<Static<typeof RegistryFile>, 'profiles'> & {
  profiles?: Record<string, LifecycleProfile>
}

const maxBytes = 1024 * 1024
const files = new WeakMap<Config, RegistryFileContent>()

/**
 * The file of the setting `BAILIWICK_REGISTRY_FILE`, read once; empty if it isn’t set.
 * @throws InvalidSetting naming the member and the rule
 */
export function registryFileOf(config: Config): RegistryFileContent {
  let content = files.get(config)
  if (!content) files.set(config, (content = config.registryFile === null ? {} : read(config, config.registryFile)))
  return content
}

function read(config: Config, file: string): RegistryFileContent {
  const fail = (rule: string) => new InvalidSetting(`${config.names.registryFile}: ${file} ${rule}`)
  let value: unknown
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > maxBytes) throw fail('is larger than 1 MiB.')
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof InvalidSetting) throw error
    throw fail(error instanceof SyntaxError ? `is not JSON: ${error.message}.` : `can’t be read: ${(error as Error).message}.`)
  }
  const [problem] = fieldProblems(RegistryFile, value)
  if (problem) throw fail(`is invalid at ${problem.pointer}: ${problem.detail}`)
  const content = value as Static<typeof RegistryFile>
  for (const [at, { kind, url, host, form }] of (content.sources ?? []).entries()) {
    const where = `is invalid at #/sources/${at}`
    if (kind === 'rdap' && (url === undefined || !URL.canParse(url)))
      throw fail(`${where}: a source of the kind rdap needs a url.`)
    if (kind === 'whois' && host === undefined) throw fail(`${where}: a source of the kind whois needs a host.`)
    if (form !== undefined && form !== 'icann' && !Object.hasOwn(whoisForms, form))
      throw fail(`${where}/form: must be icann or a top-level domain whose form is known.`)
  }
  const profiles = Object.entries(content.profiles ?? {}).map(([tld, one]) => [tld, { ...one, note: one.note ?? null }] as const)
  return { ...content, profiles: Object.fromEntries(profiles) }
}
