import manifest from '../../package.json'

/** The version of this program, by semver. */
export const version: string = manifest.version
