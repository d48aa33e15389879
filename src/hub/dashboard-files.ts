import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { StaticFile, pageHeaders, type Compressed } from './static-file'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

// In the compiled program, the built dashboard is next to the code; when running from source, it is in dist/.
const folders = [join(import.meta.dir, 'web'), join(import.meta.dir, '../../dist/web')]

let files: Map<string, StaticFile> | null = null

/** Returns a file of the built dashboard by its path, such as `assets/index-4fa2.js`, or null. */
export function dashboardFile(path: string): StaticFile | null {
  files ??= readFiles()
  return files.get(path) ?? null
}

/** The page that is served at every URL of the dashboard. */
export const dashboardPage = (): StaticFile => dashboardFile('index.html') ?? notBuilt

const notBuilt = new StaticFile(
  '<!doctype html><title>Bailiwick</title><p>The dashboard has not been built. Run <code>bun run build:dashboard</code> and restart.</p>',
  types['.html']!,
  pageHeaders,
)

function readFiles(): Map<string, StaticFile> {
  const found = new Map<string, StaticFile>()
  const folder = folders.find(one => existsSync(join(one, 'index.html')))
  if (folder === undefined) return found
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => name.replaceAll('\\', '/'))
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const compressed: Compressed = {}
    if (names.includes(`${name}.br`)) compressed.br = readFileSync(join(folder, `${name}.br`))
    if (names.includes(`${name}.gz`)) compressed.gzip = readFileSync(join(folder, `${name}.gz`))
    found.set(name, new StaticFile(readFileSync(join(folder, name)), type, headersOf(name), compressed))
  }
  return found
}

// Names under assets/ contain a hash of the content, so the files can be cached forever.
const headersOf = (name: string): Record<string, string> =>
  name.endsWith('.html')
    ? pageHeaders
    : name.startsWith('assets/')
      ? { 'Cache-Control': 'public, max-age=31536000, immutable' }
      : {}
