import type { Root } from '../sample/root'
import type { FileKind } from './places'
import { matchingPaths, readCertificateFile } from './safe-files'

/** A file with a certificate that the configuration of a service names. Paths have no slash at the start. */
export interface Reference {
  service: FileKind
  path: string
  /** Null if it is in the same file, or unknown. */
  key: string | null
  /** Server names for which it is used. */
  names: readonly string[]
}

interface Service {
  service: FileKind
  /** Folder of the configuration, to which relative paths belong. */
  folder: string
  /** Patterns of its files. */
  files: readonly string[]
  parse: (text: string, folder: string) => Reference[]
}

/** Services whose configuration is read. */
const services: readonly Service[] = [
  {
    ...{ service: 'nginx', folder: 'etc/nginx', parse: nginx },
    files: [
      ...['etc/nginx/nginx.conf', 'etc/nginx/conf.d/*.conf', 'etc/nginx/sites-enabled/*', 'etc/nginx/http.d/*.conf'],
      // Files that others include.
      'etc/nginx/snippets/*.conf',
    ],
  },
  {
    ...{ service: 'apache', folder: 'etc/apache2', parse: apache },
    files: ['etc/apache2/apache2.conf', 'etc/apache2/sites-enabled/*', 'etc/apache2/conf-enabled/*', 'etc/apache2/conf.d/*.conf'],
  },
  {
    ...{ service: 'apache', folder: 'etc/httpd', parse: apache },
    files: ['etc/httpd/conf/httpd.conf', 'etc/httpd/conf.d/*.conf'],
  },
  { service: 'haproxy', folder: 'etc/haproxy', parse: haproxy, files: ['etc/haproxy/haproxy.cfg', 'etc/haproxy/conf.d/*.cfg'] },
  { service: 'postfix', folder: 'etc/postfix', parse: postfix, files: ['etc/postfix/main.cf'] },
  { service: 'dovecot', folder: 'etc/dovecot', parse: dovecot, files: ['etc/dovecot/dovecot.conf', 'etc/dovecot/conf.d/*.conf'] },
  {
    ...{ service: 'exim', folder: 'etc/exim4', parse: exim },
    files: [
      'etc/exim4/exim4.conf',
      'etc/exim4/exim4.conf.localmacros',
      'etc/exim4/conf.d/main/*',
      'etc/exim.conf',
      'etc/exim/exim.conf',
    ],
  },
]

const maxFiles = 300
const maxReferences = 1000
const maxNames = 100

/** Reads which certificates the configurations of web and mail servers name. What can’t be read is left out. */
export function configuredReferences(root: Root): Reference[] {
  const found: Reference[] = []
  let files = 0
  for (const { folder, files: patterns, parse } of services)
    for (const pattern of patterns)
      for (const path of matchingPaths(root, pattern, () => {})) {
        if (++files > maxFiles || found.length > maxReferences) return found.slice(0, maxReferences)
        const text = textOf(root, path, folder)
        if (text !== null) found.push(...parse(text, folder))
      }
  return found.slice(0, maxReferences)
}

function textOf(root: Root, path: string, folder: string): string | null {
  try {
    return readCertificateFile(root, path, folder)?.bytes.toString('utf8') ?? null
  } catch {
    return null
  }
}

/** A path in a configuration. Variables and other sources of certificates are left out. */
function pathIn(folder: string, text: string | undefined): string | null {
  const path = text?.replace(/^["']|["']$/g, '')
  if (!path || /[$%{}\0]|^(data|engine|store):/.test(path)) return null
  return path.startsWith('/') ? path.replace(/^\/+/, '') : `${folder}/${path}`
}

const isName = (text: string): boolean => /^(\*\.)?([a-z0-9_-]+\.)+[a-z0-9-]+$/i.test(text)
const namesOf = (words: readonly string[]): string[] =>
  words
    .filter(isName)
    .map(one => one.toLowerCase())
    .slice(0, maxNames)

function reference(folder: string, service: FileKind, path: string | undefined, key?: string, names: string[] = []): Reference[] {
  const found = pathIn(folder, path)
  return found === null ? [] : [{ service, path: found, key: pathIn(folder, key), names }]
}

/** Directives end with a semicolon, and apply to the block in which they are. Servers inherit those of the blocks around them. */
function nginx(text: string, folder: string): Reference[] {
  interface Block {
    isServer: boolean
    names: string[]
    certificates: string[]
    keys: string[]
  }
  const found: Reference[] = []
  const stack: Block[] = [{ isServer: false, names: [], certificates: [], keys: [] }]
  const close = (block: Block | undefined) =>
    block?.certificates.forEach((path, at) => found.push(...reference(folder, 'nginx', path, block.keys[at], block.names)))
  let words: string[] = []
  for (const [token] of text.matchAll(/#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};]|[^\s{};"'#][^\s{};]*/g)) {
    if (token.startsWith('#')) continue
    if (token === '{') {
      stack.push({ isServer: words[0] === 'server', names: [], certificates: [], keys: [] })
      words = []
    } else if (token === '}') {
      if (stack.length > 1) close(stack.pop())
      words = []
    } else if (token === ';') {
      const block = stack.at(-1)!
      const [name, ...values] = words
      if (name === 'server_name' && block.isServer) block.names.push(...namesOf(values))
      if (name === 'ssl_certificate') block.certificates.push(values[0] ?? '')
      if (name === 'ssl_certificate_key') block.keys.push(values[0] ?? '')
      words = []
    } else if (words.length < maxNames) words.push(token)
  }
  while (stack.length > 0) close(stack.pop())
  return found
}

function apache(text: string, folder: string): Reference[] {
  const found: Reference[] = []
  let [certificates, keys, names]: [string[], string[], string[]] = [[], [], []]
  const close = () => {
    certificates.forEach((path, at) => found.push(...reference(folder, 'apache', path, keys[at], names.slice(0, maxNames))))
    ;[certificates, keys, names] = [[], [], []]
  }
  for (const line of lines(text)) {
    const [directive, ...values] = line.split(/\s+/)
    const name = directive!.toLowerCase()
    if (name === '</virtualhost>' || name === '<virtualhost') close()
    if (name === 'sslcertificatefile') certificates.push(values[0] ?? '')
    if (name === 'sslcertificatekeyfile') keys.push(values[0] ?? '')
    if (name === 'servername' || name === 'serveralias') names.push(...namesOf(values))
  }
  close()
  return found
}

/** `bind :443 ssl crt /etc/haproxy/site.pem`: the path can be a folder. */
function haproxy(text: string, folder: string): Reference[] {
  return lines(text)
    .filter(line => /^(bind|default-bind-options)\s/.test(line))
    .flatMap(line => [...line.matchAll(/\scrt\s+(\S+)/g)].map(([, path]) => path!))
    .flatMap(path =>
      /\.(pem|crt|cert)$/.test(path)
        ? reference(folder, 'haproxy', path)
        : reference(folder, 'haproxy', `${path.replace(/\/$/, '')}/*.pem`),
    )
}

function postfix(text: string, folder: string): Reference[] {
  // Lines that start with white space continue the previous one.
  const values = settings(text.replaceAll(/\n[ \t]+/g, ' '))
  const [chainKey, chain] = (values.get('smtpd_tls_chain_files') ?? '').split(/[\s,]+/)
  const names = namesOf([values.get('myhostname') ?? ''])
  return [
    ...reference(folder, 'postfix', values.get('smtpd_tls_cert_file'), values.get('smtpd_tls_key_file'), names),
    ...reference(folder, 'postfix', chain ?? chainKey, chain === undefined ? undefined : chainKey, names),
  ]
}

function dovecot(text: string, folder: string): Reference[] {
  const values = settings(text)
  const value = (...names: string[]) => names.map(name => values.get(name)?.replace(/^<\s*/, '')).find(Boolean)
  return reference(folder, 'dovecot', value('ssl_cert', 'ssl_server_cert_file'), value('ssl_key', 'ssl_server_key_file'))
}

function exim(text: string, folder: string): Reference[] {
  const values = settings(text)
  return reference(
    folder,
    'exim',
    values.get('tls_certificate') ?? values.get('MAIN_TLS_CERTIFICATE'),
    values.get('tls_privatekey') ?? values.get('MAIN_TLS_PRIVATEKEY'),
  )
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))

/** Lines of the form `name = value`. Of a name that occurs twice, the last value counts. */
const settings = (text: string): Map<string, string> =>
  new Map(
    lines(text).flatMap(line => {
      const [, name, value] = /^(\w+)\s*=\s*(.+)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value!.trim()] as const]
    }),
  )
