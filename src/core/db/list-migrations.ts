import { readFileSync, writeFileSync } from 'node:fs'

// Writes migrations/list.ts from drizzle-kit's journals: static imports are what puts the SQL into the compiled binary.
const engines = ['sqlite', 'postgres'] as const
const imports: string[] = []
const lists: string[] = []
for (const engine of engines) {
  const journal = JSON.parse(readFileSync(`migrations/${engine}/meta/_journal.json`, 'utf8')) as {
    entries: { idx: number; tag: string }[]
  }
  const rows = journal.entries.map(({ idx, tag }) => {
    imports.push(`import ${engine}${idx} from './${engine}/${tag}.sql' with { type: 'text' }`)
    return `    { tag: '${tag}', sql: ${engine}${idx} },`
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
