import { expect, test } from 'bun:test'
import { codeOf, sourceFiles } from './sources'

// An error of a socket or server without a handler ends the process, such as an ICMP message from a client that is gone.

/** What creates a socket, a server, a request, or a process, by module. */
const creators: Record<string, string[]> = {
  child_process: ['exec', 'execFile', 'fork', 'spawn'],
  dgram: ['Socket', 'createSocket'],
  http: ['ClientRequest', 'Server', 'createServer', 'get', 'request'],
  http2: ['connect', 'createSecureServer', 'createServer'],
  https: ['Server', 'createServer', 'get', 'request'],
  net: ['Server', 'Socket', 'connect', 'createConnection', 'createServer'],
  tls: ['Server', 'TLSSocket', 'connect', 'createServer'],
  worker_threads: ['Worker'],
}

/** Creators whose handler is added elsewhere in the file: by this function to its first parameter. */
const addedBy: Record<string, string> = {
  'src/checks/connect.ts openSocket': 'waitFor',
  'src/checks/connect.ts openTls': 'waitFor',
  'src/checks/http/http1.ts sendRequest': 'responseHead',
}

const files = sourceFiles.filter(file => !file.startsWith('src/dashboard/'))

/** Where the brackets end that open at `from`. */
function closing(code: string, from: number): number {
  let depth = 0
  for (let at = from; at < code.length; at++) {
    if ('([{'.includes(code[at]!)) depth++
    else if (')]}'.includes(code[at]!) && --depth === 0) return at + 1
  }
  return code.length
}

/** Whether `on('error', …)` is called on a variable, also in a chain of calls. */
function hasHandler(code: string, variable: string): boolean {
  return [...code.matchAll(new RegExp(`(?<![.\\w])${variable}(?=\\s*\\.on\\()`, 'g'))].some(({ 0: name, index }) => {
    let at = index + name.length
    for (let call; (call = /^\s*\.(on|once)\(/.exec(code.slice(at)));) {
      if (/^\s*\.on\('error'/.test(code.slice(at))) return true
      at = closing(code, at + call[0].length - 1)
    }
    return false
  })
}

/** The uses of a creator that have no handler. */
function unhandled(file: string, code: string, creator: string): string[] {
  const adder = addedBy[`${file} ${creator}`]
  if (adder !== undefined) {
    const start = code.search(new RegExp(`function ${adder}\\b`))
    const parameter = /\((\w+)/.exec(code.slice(start))?.[1]
    const body = code.slice(start, code.indexOf('\n}\n', start))
    return parameter !== undefined && hasHandler(body, parameter) ? [] : [`${file}: ${adder} adds no error handler`]
  }
  return [...code.matchAll(new RegExp(`(?:\\b(?:const|let) (\\w+)\\s*=[^\\n]*?)?(?<![.\\w])${creator}\\b(?! as\\b)`, 'g'))]
    .filter(({ index }) => !isInImport(code, index))
    .flatMap(({ 1: variable, 0: use, index }) => {
      if (/\binstanceof\s+$/.test(code.slice(0, index + use.length - creator.length))) return []
      return variable !== undefined && hasHandler(code, variable) ? [] : [`${file}: ${use}`]
    })
}

const isInImport = (code: string, at: number): boolean =>
  [...code.matchAll(/^import [^']*'[^']*'/gm)].some(({ 0: text, index }) => index <= at && at < index + text.length)

test('sockets of Bun have an error handler', () => {
  const found = files.flatMap(file => {
    const code = codeOf(file)
    return [...code.matchAll(/\bBun\.(?:udpSocket|listen|connect)\b[^(]*\(/g)]
      .filter(({ 0: call, index }) => {
        const at = index + call.length - 1
        return !/\berror(?:\(|:|,|\s*\})/.test(code.slice(at, closing(code, at)))
      })
      .map(({ 0: call }) => `${file}: ${call}`)
  })
  expect(found).toEqual([])
})

test('sockets, servers, and requests of Node.js have an error handler', () => {
  const found = files.flatMap(file => {
    const code = codeOf(file)
    return [...code.matchAll(/^import (?!type\b)([^']*) from 'node:(\w+)'/gm)].flatMap(([, names, module]) => {
      const watched = creators[module!]
      if (!watched) return []
      // Other imports would hide what is created.
      if (!names!.startsWith('{')) return [`${file}: import ${names} from node:${module}`]
      return names!
        .slice(1, -1)
        .split(',')
        .map(one => one.trim().split(' as '))
        .filter(([name]) => watched.includes(name!))
        .flatMap(([name, alias]) => unhandled(file, code, alias ?? name!))
    })
  })
  expect(found).toEqual([])
})

test('threads have an error handler', () => {
  const found = files.filter(file => {
    const code = codeOf(file)
    if (/^import [^']*\bWorker\b/m.test(code)) return false
    return /\bnew Worker\(/.test(code) && !/\bclass Worker\b/.test(code) && !/\.onerror = /.test(code)
  })
  expect(found).toEqual([])
})
