import { expect, test } from 'bun:test'
import { codeOf, importedNames, everyFile, sourceFiles } from './sources'

/** Started by a person or loaded by a tool, so no file imports them. */
const entryPoint = /^src\/(bin\/|dashboard\/vite\.config\.ts$|core\/db\/drizzle\.config\.ts$)/

/** The names that a file exports; `default` for its default export. */
function exportedNames(file: string): string[] {
  const code = codeOf(file)
  const declared = /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm
  const lists = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(match => match[1]!.split(','))
  return [
    ...[...code.matchAll(declared)].map(match => match[1]!),
    // `a`, `type a` or `a as b`: the last word is the exported name.
    ...lists.flatMap(part => part.match(/\w+/g)?.at(-1) ?? []),
    ...(/^export default\b/m.test(code) ? ['default'] : []),
  ]
}

const used = new Set(everyFile.flatMap(importedNames))
const nameIn = (file: string, name: string) => `${file.replace(/\.tsx?$/, '')} ${name}`

test('every export is imported by another file', () => {
  const dead = sourceFiles
    .filter(file => !entryPoint.test(file))
    .flatMap(file => exportedNames(file).flatMap(name => (used.has(nameIn(file, name)) ? [] : `${file}: ${name}`)))
  expect(dead).toEqual([])
})

test('imports of every form are found', () => {
  const inTree: [form: string, name: string][] = [
    ['import { a } from', nameIn('src/core/change.ts', 'change')],
    ['import type { a } from', nameIn('src/core/ctx.ts', 'Ctx')],
    ['import { type a } from', nameIn('src/access/callers.ts', 'Caller')],
    ['export { a } from', nameIn('src/features/heartbeats/schedule/calendar-parse.ts', 'parseCalendar')],
    ['await import()', nameIn('src/agent/run.ts', 'startAgent')],
    ['a page of the router', nameIn('src/dashboard/pages/plan.tsx', 'default')],
  ]
  expect(inTree.filter(([, name]) => !used.has(name)).map(([form]) => form)).toEqual([])
})
