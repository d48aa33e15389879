import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** An import statement: the module, resolved if it is relative, and whether it only imports types. */
export interface Import {
  file: string
  of: string
  typesOnly: boolean
}

/** All TypeScript files of the program, without tests. */
export const sourceFiles: string[] = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync('.')]
  .filter(file => !/\.(test|d)\.tsx?$/.test(file))
  .sort()

/** Every TypeScript file of the program and of its tests. */
export const everyFile: string[] = [
  ...sourceFiles,
  ...new Bun.Glob('test/**/*.ts').scanSync('.'),
  ...new Bun.Glob('src/**/*.test.ts').scanSync('.'),
].sort()

export const textOf = (file: string): string => readFileSync(file, 'utf8')

/** The text without comments, so that rules about code don't match comments. `pages/*` is not the start of one. */
export const codeOf = (file: string): string =>
  textOf(file)
    .replace(/(?<!\w)\/\*[\s\S]*?\*\//g, comment => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[\s;{(,])\/\/[^\n]*/g, '$1')

/**
 * The imports of a file, parsed from its text, because a transpiler removes type imports.
 * Relative modules are paths from the root without extension (`src/core/ids`); folders are their `index`.
 */
export function importsOf(file: string): Import[] {
  const found: Import[] = []
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g
  for (const match of codeOf(file).matchAll(statement)) {
    const named = match[2] ?? match[3]!
    found.push({ file, of: named.startsWith('.') ? resolved(file, named) : named, typesOnly: match[1] !== undefined })
  }
  return [...found, ...globbed(file).map(of => ({ file, of, typesOnly: false }))]
}

/** The modules that a file imports by a pattern. */
const globbed = (file: string): string[] =>
  [...codeOf(file).matchAll(/\bimport\.meta\.glob\b[^'\n]*'([^']+)'/g)].flatMap(([, pattern]) => {
    const glob = new Bun.Glob(normalize(join(dirname(file), pattern!)))
    return sourceFiles.filter(one => glob.match(one)).map(one => one.replace(/\.tsx?$/, ''))
  })

function resolved(file: string, named: string): string {
  const path = normalize(join(dirname(file), named))
    .replace(/\.tsx?$/, '')
    .replace(/\/$/, '')
  return sourceFiles.includes(`${path}/index.ts`) ? `${path}/index` : path
}

/**
 * What a file imports, as `<file> <name>`; `default` for a default export. Names that a dynamic import brings are read from the rest
 * of the file.
 */
export function importedNames(file: string): string[] {
  const code = codeOf(file)
  const found: string[] = []
  const add = (of: string, names: string[]) => {
    if (of.startsWith('.')) found.push(...names.map(name => `${resolved(file, of)} ${name}`))
  }
  const wordsOf = (text: string) => [...new Set(text.match(/\b\w+\b/g))]
  const statement = /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?([^'"();]*?)\s+from\s+['"]([^'"]+)['"]/g
  for (const [, what, of] of code.matchAll(statement)) {
    const [, before, listed] = /^([^{]*)(?:\{([^}]*)\})?$/.exec(what!)!
    if (before!.includes('*')) add(of!, wordsOf(code))
    else if (/\w/.test(before!)) add(of!, ['default'])
    for (const part of (listed ?? '').split(',')) add(of!, wordsOf(part.replace(/\btype\s/, '').replace(/\sas\s.*/, '')))
  }
  for (const [, of] of code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) add(of!, ['default', ...wordsOf(code)])
  for (const of of globbed(file)) found.push(`${of} default`)
  return found
}
