import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** One import statement: what it names, resolved when it is relative, and whether only types come of it. */
export interface Import {
  file: string
  of: string
  typesOnly: boolean
}

/** Every TypeScript file of the program, its tests left out. */
export const sourceFiles: string[] = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync('.')]
  .filter(file => !/\.(test|d)\.tsx?$/.test(file))
  .sort()

export const textOf = (file: string): string => readFileSync(file, 'utf8')

/** The text without comments, so that a rule about code does not meet a sentence about it. */
export const codeOf = (file: string): string =>
  textOf(file)
    .replace(/\/\*[\s\S]*?\*\//g, comment => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[\s;{(,])\/\/[^\n]*/g, '$1')

/**
 * The imports of a file, read from its text: a transpiler drops those that bring only types.
 * Relative ones are paths from the root without extension (`src/core/ids`), a folder's is its `index`.
 */
export function importsOf(file: string): Import[] {
  const found: Import[] = []
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g
  for (const match of codeOf(file).matchAll(statement)) {
    const named = match[2] ?? match[3]!
    found.push({ file, of: named.startsWith('.') ? resolved(file, named) : named, typesOnly: match[1] !== undefined })
  }
  return found
}

function resolved(file: string, named: string): string {
  const path = normalize(join(dirname(file), named))
    .replace(/\.tsx?$/, '')
    .replace(/\/$/, '')
  return sourceFiles.includes(`${path}/index.ts`) ? `${path}/index` : path
}
