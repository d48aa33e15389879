import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What a built dashboard was made from: the modules outside its folder, and a hash of all files. */
export interface BuildInputs {
  modules: string[]
  hash: string
}

/** Files that change what is built without being part of it. */
const settings = ['bun.lock', 'tsconfig.json', 'src/bin/build-dashboard.ts']

/** @param ids modules that the bundler read, and its virtual ones */
export function inputsOf(ids: Iterable<string>, root: string): BuildInputs {
  const paths = [...ids].map(id => relative(root, id.replace(/\?.*$/, '')))
  const modules = [...new Set(paths)]
    .filter(path => /^(?!\.\.|src\/dashboard\/)/.test(path) && !path.includes('node_modules/') && existsSync(join(root, path)))
    .sort()
  return { modules, hash: hashOf(modules, root) }
}

/** Whether a dashboard that was built from these inputs is still the current one. */
export const isCurrent = ({ modules, hash }: BuildInputs, root: string): boolean => hashOf(modules, root) === hash

function hashOf(modules: readonly string[], root: string): string {
  const own = globSync('src/dashboard/**/*.*', { cwd: root }).sort()
  const hash = createHash('sha256')
  for (const path of [...own, ...settings, ...modules]) {
    const content = existsSync(join(root, path)) ? readFileSync(join(root, path)) : ''
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
