import { codeOf, importsOf, sourceFiles } from './sources'

const files = sourceFiles.filter(file => file.startsWith('src/dashboard/') && !file.endsWith('vite.config.ts'))
const code = new Map(files.map(file => [file, codeOf(file)]))

/** A place in the code of the dashboard. */
interface Place {
  file: string
  at: number
}

/** A path that the dashboard calls, with `{}` for parameters, and the file that names it. */
interface NamedPath {
  path: string
  file: string
}

/**
 * Lists the API calls of the dashboard, read from its code: `GET /monitors/{}` with the files that name the path. Follows paths
 * through constants and parameters, such as the `path` of a part. Variables with a word of a path are called `verb` or `name`.
 */
export function dashboardCalls(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const add = (method: string, { path, file }: NamedPath) => {
    const call = `${method} ${path}`
    found.set(call, (found.get(call) ?? new Set()).add(file))
  }
  for (const file of files) {
    for (const { 1: methods, index, 0: text } of code.get(file)!.matchAll(/\bmethod: ([^,]+),\s*(?=path\b)/g))
      for (const [method, path] of paired(methods!.match(/[A-Z]+/g) ?? [], pathsIn({ file, at: index + text.length })))
        add(method, path)
    for (const { index, 0: text } of code.get(file)!.matchAll(/(?<!function )\bapiUrl\(\{\s*/g))
      for (const path of pathsIn({ file, at: index + text.length })) add('GET', path)
  }
  // Lists and selections that are declared apart from where they are used.
  for (const file of files)
    for (const [, before, path] of code.get(file)!.matchAll(/^(.*)\n? (?:= \{)? *path: '([^']+)',/gm))
      if (!/\bmethod:/.test(before!)) add(path!.endsWith('/bulk') ? 'POST' : 'GET', { path: path!, file })
  return found
}

/** Two methods belong to two paths, as in `plan ? 'PATCH' : 'POST'`. */
const paired = (methods: readonly string[], paths: readonly NamedPath[]): [string, NamedPath][] =>
  methods.length === 1
    ? paths.map(path => [methods[0]!, path])
    : methods.flatMap((method, at) => paths.slice(at, at + 1).map(path => [method, path] as [string, NamedPath]))

/** The paths given as a property or attribute: `path: '/monitors'`, `path={path}`, or `path` alone. */
function pathsIn({ file, at }: Place, depth = 0): NamedPath[] {
  const [text] = /path(?::\s*|=\{?)?/y.exec(code.get(file)!.slice(at)) ?? ['']
  return valuesOf({ file, at: text === 'path' ? at : at + text.length }, depth)
}

const maxDepth = 8

/** The possible values of the expression at a place. */
function valuesOf(place: Place, depth: number): NamedPath[] {
  const { file, at } = place
  const rest = code.get(file)!.slice(at)
  if (depth > maxDepth) return []
  const literal = /^(['"])(.*?)\1/.exec(rest)
  if (literal) return [{ path: literal[2]!, file }]
  if (rest.startsWith('`')) return templateValues(place, depth)
  // A choice, such as `plan ? a : b`.
  const choice = /^[^\n`'"(){}]*?(?:=== '\w*' )?\?(?!\.)\s*/.exec(rest)
  if (choice) {
    const first = at + choice[0].length
    const [skipped] = /^(?:'[^']*'|`[^`]*`|\w+)\s*:\s*/.exec(rest.slice(choice[0].length)) ?? [null]
    return [first, ...(skipped === null ? [] : [first + skipped.length])].flatMap(at => valuesOf({ file, at }, depth + 1))
  }
  const [name] = /^\w+/.exec(rest) ?? [null]
  return name === null || name === 'null' ? [] : namedValues(name, place, depth)
}

function templateValues({ file, at }: Place, depth: number): NamedPath[] {
  let values: NamedPath[] = [{ path: '', file }]
  const [template] = /^`[^`]*`/.exec(code.get(file)!.slice(at))!
  for (const { 0: part, index } of template.slice(0, -1).matchAll(/\$\{[^}]*\}|[^$`]+/g)) {
    const inner = part.startsWith('${') ? part.slice(2, -1) : null
    // A parameter of the path, unless it is the start of it, a choice of words, or a variable with a word.
    const options =
      inner === null
        ? [{ path: part, file }]
        : index === 1 || /[?]/.test(inner) || /^(?:verb|name)$/.test(inner)
          ? valuesOf({ file, at: at + index + 2 }, depth + 1)
          : [{ path: '{}', file }]
    values = values.flatMap(before =>
      options.map(option => ({ path: before.path + option.path, file: index === 1 ? option.file : before.file })),
    )
  }
  return values
}

/** The values of a constant, or of a parameter: what is passed to the function around it. */
function namedValues(name: string, { file, at }: Place, depth: number): NamedPath[] {
  const text = code.get(file)!
  const declared = [...text.matchAll(new RegExp(`\\bconst ${name} = `, 'g'))]
  const nearest = declared.findLast(one => one.index < at) ?? declared[0]
  if (nearest) return valuesOf({ file, at: nearest.index + nearest[0].length }, depth + 1)
  for (const [other, text] of code) {
    const exported = new RegExp(`^export const ${name} = (?=['"\`])`, 'm').exec(text)
    if (exported) return valuesOf({ file: other, at: exported.index + exported[0].length }, depth + 1)
  }
  const before = text.slice(0, at)
  // An inner function with this parameter, or the outer one.
  const inner = [...before.matchAll(new RegExp(`^ +const (\\w+) = (?=\\((?:[^)]*\\W)?${name}\\b[^)]*\\) =>)`, 'gm'))].at(-1)
  const outer = [...before.matchAll(/^(?:export )?(?:default )?(?:async )?(?:function|const) (\w+)/gm)].at(-1)
  const around = inner && outer && inner.index > outer.index ? inner : outer
  if (!around) return []
  const start = text.indexOf('(', around.index) + 1
  const place = splitList(text.slice(start, endOf(text, start))).findIndex(one => new RegExp(`^${name}\\b`).test(one.text))
  return argumentsOf({ callee: around[1]!, name, place, among: around === inner ? [file] : files }, depth + 1)
}

interface Parameter {
  callee: string
  name: string
  /** Its place in the list of parameters. Negative if it is a property of one. */
  place: number
  among: readonly string[]
}

/** The values of a parameter in all calls of a function, or of an attribute in all uses of a component. */
function argumentsOf({ callee, name, place, among }: Parameter, depth: number): NamedPath[] {
  const uses = new RegExp(`(?<!function |\\w\\.)\\b${callee}(?:<[^(\\n]*?>)?\\(|<${callee}\\b(?:<\\w+>)?`, 'g')
  const given = new RegExp(`(?<![\\w.$])${name}(?::\\s*|=\\{?|(?=\\s*[,}]))|\\{\\.\\.\\.(?=\\w+\\} />)`)
  return among.flatMap(file => {
    const text = code.get(file)!
    return [...text.matchAll(uses)].flatMap(({ 0: opening, index }) => {
      const isComponent = opening.startsWith('<')
      const start = index + opening.length
      const list = text.slice(start, endOf(text, start, isComponent))
      if (place >= 0) {
        const argument = isComponent ? undefined : splitList(list)[place]
        return argument ? valuesOf({ file, at: start + argument.at }, depth) : []
      }
      const property = given.exec(list)
      if (!property) return []
      const at = start + property.index
      // All attributes are passed on.
      if (property[0] === '{...') return namedValues(name, { file, at }, depth)
      return valuesOf({ file, at: /[:=]/.test(property[0]) ? at + property[0].length : at }, depth)
    })
  })
}

/** Splits a list of parameters or arguments at its commas. */
function splitList(list: string): { text: string; at: number }[] {
  const parts: { text: string; at: number }[] = []
  for (let at = 0; at < list.length;) {
    const space = /^\s*/.exec(list.slice(at))![0].length
    const end = endOf(list, at, false, ',')
    parts.push({ text: list.slice(at + space, end), at: at + space })
    at = end + 1
  }
  return parts
}

/** Where the list of arguments or attributes that starts at a place ends. */
function endOf(text: string, start: number, isComponent = false, separator = ''): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if ('({['.includes(text[at]!)) depth++
    else if (')}]'.includes(text[at]!) && --depth < 0) return at
    else if (depth === 0 && text[at] === separator) return at
    else if (isComponent && depth === 0 && text[at] === '>') return at + 1
  }
  return text.length
}

/** The code of a file of the dashboard and of everything that it imports from it. */
export function codeWithImports(file: string): string {
  const reached = new Set([file])
  for (const one of reached)
    for (const { of } of importsOf(one))
      for (const extension of ['.ts', '.tsx']) if (code.has(of + extension)) reached.add(of + extension)
  return [...reached].map(one => code.get(one)!).join('\n')
}
