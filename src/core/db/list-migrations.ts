import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// Writes migrations/list.ts from drizzle-kit's journals: static imports are what puts the SQL into the compiled binary.
// What drizzle-kit cannot write (triggers) is in files by hand, src/core/db/written/<number>_<name>.<engine>.sql: each is a step
// of its own, after the generated one of its number.
const written = 'src/core/db/written'
const engines = ['sqlite', 'postgres'] as const
const imports: string[] = []
const lists: string[] = []
for (const engine of engines) {
  const journal = JSON.parse(readFileSync(`migrations/${engine}/meta/_journal.json`, 'utf8')) as {
    entries: { idx: number; tag: string }[]
  }
  const byHand = readdirSync(written)
    .filter(file => file.endsWith(`.${engine}.sql`))
    .sort()
    .map(file => ({ tag: file.slice(0, -`.${engine}.sql`.length), file: `../${written}/${file}` }))
  const steps = journal.entries.flatMap(({ idx, tag }) => [
    { tag, file: `./${engine}/${tag}.sql` },
    ...byHand.filter(step => Number(step.tag.split('_')[0]) === idx),
  ])
  const rows = steps.map(({ tag, file }, place) => {
    imports.push(`import ${engine}${place} from '${file}' with { type: 'text' }`)
    return `    { tag: '${tag}', sql: ${engine}${place} },`
  })
  lists.push(`  ${engine}: [\n${rows.join('\n')}\n  ],`)
}
writeFileSync(
  'migrations/list.ts',
  `// Written by \`bun run migrations\`; do not edit.
${imports.join('\n')}

/** Every step of the schema, in order, for each engine. */
export const migrations: Record<'sqlite' | 'postgres', { tag: string; sql: string }[]> = {
${lists.join('\n')}
}
`,
)
