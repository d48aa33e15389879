import type { CheckSpec } from '../../src/checks/check'
import { spec } from './engine'
import type { HostileServerName } from './hostile-server'

// A regular expression whose matching has to follow hundreds of positions at once, for each character.
const slowRegex = 'a[ab]{900}[A-Z]'
const maxRead = 1024 * 1024

/** Monitors that try to occupy the engine, with the worst options of their type. @param ports of the hostile servers */
export function hostileChecks(ports: Record<HostileServerName, number>): CheckSpec[] {
  const specs: CheckSpec[] = []
  const add = (
    type: CheckSpec['type'],
    server: HostileServerName,
    options: Record<string, unknown> = {},
    more: Partial<CheckSpec> = {},
  ) => {
    const at = `127.0.0.1:${ports[server]}`
    const target = type === 'http' ? `http://${at}/` : type === 'websocket' ? `ws://${at}/` : type === 'dns' ? 'www.a.test' : at
    specs.push(
      spec(`${type}_${server}_${specs.length}`, {
        type,
        target,
        options: type === 'dns' ? { resolver: at, transport: 'tcp', ...options } : options,
        ...more,
      }),
    )
  }
  const conditions = (...texts: string[]): Partial<CheckSpec> => ({ down_if: texts })
  const many = (fn: (at: number) => string) => conditions(...Array.from({ length: 20 }, (_, at) => fn(at)))
  for (const type of ['http', 'tcp', 'tls', 'dns', 'smtp', 'imap', 'pop3', 'ssh', 'websocket'] as const)
    add(type, 'silent', type === 'tcp' ? { steps: [{ expect: 'x' }] } : {})
  add('icmp', 'silent', { count: 10 }, { target: '127.0.0.1' })

  add('http', 'http_trickle')
  add('http', 'http_headers')
  add('http', 'http_interim')
  add('http', 'http_endless')
  add('http', 'http_chunks')
  const secrets = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x-${at}`, `${'x'.repeat(4090)}/${at}`]))
  add('http', 'http_endless', {
    secret_headers: secrets,
    method: 'POST',
    body_limit_bytes: 100_000,
    accepted_status_codes: ['500'],
  })
  add('http', 'http_bomb')
  add(
    'http',
    'http_letters',
    {},
    many(at => `[BODY] == regex(a[ab]{${900 - at}}[A-Z])`),
  )
  add(
    'http',
    'http_letters',
    {},
    many(at => `[BODY] == pat(*a${'?'.repeat(400 + at)}c*)`),
  )
  add(
    'http',
    'http_nested',
    {},
    many(at => `[BODY]..* == "${at}"`),
  )
  add(
    'http',
    'http_nested',
    {},
    many(at => `[BODY]..* != "${at}"`),
  )
  add(
    'http',
    'http_wide',
    {},
    many(at => `[BODY]..* == any(${'x,'.repeat(200)}${at})`),
  )
  add(
    'http',
    'http_wide',
    {},
    many(at => `[BODY]..[?@.a == ${at}] != "x"`),
  )

  const steps = (expect: string) => ({ steps: [{ expect }], read_limit_bytes: maxRead })
  add('tcp', 'tcp_trickle', steps(slowRegex))
  add('tcp', 'tcp_lines', steps(slowRegex))
  add('tcp', 'tcp_line', steps(slowRegex))
  add('tcp', 'tcp_letters', steps(slowRegex))

  add('tls', 'tls_trickle')
  add('tls', 'tls_warnings')

  const capabilities = { expected_capabilities: Array.from({ length: 50 }, (_, at) => `*${'a*'.repeat(45)}${at}`) }
  add('smtp', 'smtp_trickle')
  add('smtp', 'smtp_greeting', { expected_banner: '*a'.repeat(200) })
  add('smtp', 'smtp_capabilities', capabilities)
  add('imap', 'imap_trickle')
  add('imap', 'imap_capabilities', capabilities)
  add('pop3', 'pop3_trickle')
  add('pop3', 'pop3_capabilities', capabilities)
  add('ssh', 'ssh_trickle')
  add('ssh', 'ssh_lines')
  add('ssh', 'ssh_line')

  const expect = { expect: slowRegex, read_limit_bytes: maxRead }
  add('websocket', 'websocket_trickle')
  add('websocket', 'websocket_pings', expect)
  add('websocket', 'websocket_messages', expect)
  add('websocket', 'websocket_fragments', expect)
  add('websocket', 'websocket_letters', expect)

  add('dns', 'dns_trickle')
  add('dns', 'dns_records', {
    expected_answers: Array.from({ length: 100 }, (_, at) => `*${'1*'.repeat(400)}${at}`),
    match: 'exact',
  })
  return specs
}
