import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { HeldFile, pageHeaders, type Packed } from './held-file'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

// In the compiled program the built dashboard lies beside the code; run from source it is where the build left it.
const folders = [join(import.meta.dir, 'web'), join(import.meta.dir, '../../dist/web')]

let files: Map<string, HeldFile> | null = null

/** A file of the built dashboard by its path in it, such as `assets/index-4fa2.js`; null when there is none. */
export function webFile(path: string): HeldFile | null {
  files ??= readFiles()
  return files.get(path) ?? null
}

/** The page that every address of the dashboard is answered with. */
export const dashboardPage = (): HeldFile => webFile('index.html') ?? notBuilt

const notBuilt = new HeldFile(
  '<!doctype html><title>Bailiwick</title><p>The dashboard was not built. Run <code>bun run build:dashboard</code>, then start again.</p>',
  types['.html']!,
  pageHeaders,
)

function readFiles(): Map<string, HeldFile> {
  const found = new Map<string, HeldFile>()
  const folder = folders.find(one => existsSync(join(one, 'index.html')))
  if (folder === undefined) return found
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => name.replaceAll('\\', '/'))
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const packed: Packed = {}
    if (names.includes(`${name}.br`)) packed.br = readFileSync(join(folder, `${name}.br`))
    if (names.includes(`${name}.gz`)) packed.gzip = readFileSync(join(folder, `${name}.gz`))
    found.set(name, new HeldFile(readFileSync(join(folder, name)), type, headersOf(name), packed))
  }
  return found
}

// A name under assets/ carries a hash of what is in it: whoever has it need never ask again.
const headersOf = (name: string): Record<string, string> =>
  name.endsWith('.html')
    ? pageHeaders
    : name.startsWith('assets/')
      ? { 'Cache-Control': 'public, max-age=31536000, immutable' }
      : {}
