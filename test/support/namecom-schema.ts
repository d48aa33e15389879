import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
// @ts-expect-error The package has no types. The description is OpenAPI 3.1.
import { EMBEDDED_SPEC } from 'namecom-mcp/dist/embedded-spec.js'
import type { ApiRequest } from './api-double'

const description = EMBEDDED_SPEC as { paths: Record<string, Record<string, { responses: Record<string, object> }>> }
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
// Formats of OpenAPI for numbers.
for (const format of ['int32', 'int64', 'double', 'ip', 'hostname']) ajv.addFormat(format, true)
ajv.addSchema(description, 'namecom', undefined, false)
const checks = new Map<string, ValidateFunction>()

/** @throws Error for a response that isn’t valid by the description that Name.com publishes */
export function checkNamecomResponse({ method, path }: ApiRequest, status: number, body: object): void {
  const found = Object.keys(description.paths).find(
    one =>
      new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/:]+')}$`).test(`/core/v1${path}`) &&
      method.toLowerCase() in description.paths[one]!,
  )
  // Calls that don’t exist are not described.
  if (found === undefined) return
  const escaped = found.replaceAll('~', '~0').replaceAll('/', '~1')
  const pointer = `#/paths/${escaped}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
  const check = checks.get(pointer) ?? ajv.compile({ $ref: `namecom${encodeURI(pointer)}` })
  checks.set(pointer, check)
  if (!check(body)) throw new Error(`${method} ${path} ${status}: ${ajv.errorsText(check.errors)}`)
}
