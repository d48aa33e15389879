import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

// Fails if the tables in the source and the migrations differ: `bun run migrations:check`.
// Works on a copy inside the working folder, because drizzle-kit requires that.
const copy = mkdtempSync('.migrations-check-')
let isUpToDate = true
try {
  cpSync('migrations', copy, { recursive: true })
  for (const [engine, dialect] of [
    ['sqlite', 'sqlite'],
    ['postgres', 'postgresql'],
  ] as const) {
    const config = join(copy, `${engine}.config.ts`)
    const out = `./${relative('.', join(copy, engine))}`
    writeFileSync(
      config,
      `import config from '../src/core/db/drizzle.config'\nexport default { ...config, dialect: '${dialect}', out: '${out}' }\n`,
    )
    const before = readdirSync(join(copy, engine)).length
    const run = Bun.spawnSync(
      [process.execPath, 'node_modules/drizzle-kit/bin.cjs', 'generate', '--config', config, '--name', 'missing'],
      {
        env: { ...process.env, BAILIWICK_DATABASE_URL: engine === 'postgres' ? 'postgres://unused' : '' },
      },
    )
    const added = readdirSync(join(copy, engine)).filter(name => name.endsWith('_missing.sql'))
    const output = `${run.stdout.toString()}${run.stderr.toString()}`
    const matches =
      run.exitCode === 0 &&
      added.length === 0 &&
      readdirSync(join(copy, engine)).length === before &&
      output.includes('No schema changes')
    if (!matches) {
      isUpToDate = false
      process.stdout.write(output)
      for (const name of added) process.stdout.write(`${await Bun.file(join(copy, engine, name)).text()}\n`)
    }
    process.stdout.write(
      `${engine}: ${matches ? 'the migrations match the tables' : 'a migration is missing; run NAME=<change> bun run migrations'}\n`,
    )
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
process.exit(isUpToDate ? 0 : 1)
