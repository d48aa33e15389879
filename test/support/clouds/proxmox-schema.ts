import extract from './proxmox-schema.json'

/** A value or parameter in the schema of Proxmox. */
interface Property {
  type?: string
  optional?: boolean
  pattern?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  /** Name of another property that must be present. */
  requires?: string
  /** Name of a format, or the keys of a property string. */
  format?: string | Record<string, Property & { default_key?: number; alias?: string; keyAlias?: string }>
  properties?: Record<string, Property>
  items?: Property
  additionalProperties?: number | Property
}

/** Who may make a call: `all` who are signed in, or an expression such as `["perm", "/vms/{vmid}", ["VM.Audit"]]`. */
type Permissions = string | unknown[]

interface Call {
  permissions: Permissions
  parameters: Record<string, Property>
  returns?: Property
}

const paths = extract.paths as unknown as Record<string, Partial<Record<string, Call>>>
const templates = Object.keys(paths).map(template => ({
  template,
  expression: new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}))

/** Finds the call of a request, and the parameters in its path; null if Proxmox (or the extract) doesn't have it. */
export function callOf(method: string, path: string): { template: string; call: Call; inPath: Record<string, string> } | null {
  for (const { template, expression } of templates) {
    const found = expression.exec(path)
    const call = paths[template]![method]
    if (found && call) {
      const inPath = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
      return { template, call, inPath: Object.fromEntries(inPath) }
    }
  }
  return null
}

/** Checks parameters as Proxmox does; returns its messages by parameter. */
export function parameterErrors({ parameters }: Call, values: Record<string, string>): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    const property = parameters[name] ?? parameters[name.replace(/\d+$/, '[n]')]
    const error = property
      ? valueError(property, value)
      : 'property is not defined in schema and the schema does not allow additional properties'
    if (error) errors[name] = error
    else if (property!.requires !== undefined && values[property!.requires] === undefined)
      errors[name] = `missing property - '${property!.requires}' requires this property`
  }
  for (const [name, { optional }] of Object.entries(parameters))
    if (!optional && values[name] === undefined) errors[name] = 'property is missing and it is not optional'
  return errors
}

function valueError({ type, pattern, enum: choices, format, ...limits }: Property, value: string): string | null {
  if (type === 'boolean' && !/^[01]$/.test(value)) return `type check ('boolean') failed - got '${value}'`
  if (type === 'integer' && !/^[+-]?\d+$/.test(value)) return `type check ('integer') failed - got '${value}'`
  if (type === 'number' && !/^[+-]?\d+(\.\d+)?$/.test(value)) return `type check ('number') failed - got '${value}'`
  if (limits.maxLength !== undefined && value.length > limits.maxLength)
    return `value may only be ${limits.maxLength} characters long`
  if (limits.minLength !== undefined && value.length < limits.minLength)
    return `value must be at least ${limits.minLength} characters long`
  if (limits.maximum !== undefined && Number(value) > limits.maximum)
    return `value must have a maximum value of ${limits.maximum}`
  if (limits.minimum !== undefined && Number(value) < limits.minimum)
    return `value must have a minimum value of ${limits.minimum}`
  if (choices && !choices.includes(value))
    return `value '${value}' does not have a value in the enumeration '${choices.join(', ')}'`
  if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(value)) return 'value does not match the regex pattern'
  if (typeof format === 'object') return propertyStringError(format, value)
  if (format !== undefined && formats[format] && !formats[format].test(value))
    return `invalid format - ${wrongFormat(format, value)}`
  return null
}

const wrongFormat = (format: string, value: string) =>
  format === 'dns-name' ? 'value does not look like a valid DNS name' : `invalid ${format} '${value}'`

const configId = '[A-Za-z][\\w-]+'
const tag = '[A-Za-z0-9_][A-Za-z0-9_+.-]*'
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
/** Named formats, as in PVE::JSONSchema. Those that are missing are not checked. */
const formats: Partial<Record<string, RegExp>> = {
  'dns-name': new RegExp(`^(?:${dnsLabel}\\.)*${dnsLabel}$`),
  'pve-configid': new RegExp(`^${configId}$`),
  'pve-configid-list': new RegExp(`^${configId}(?:[,; ]+${configId})*$`),
  'pve-node': new RegExp(`^${dnsLabel}$`),
  'pve-poolid': /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+){0,2}$/,
  'pve-qm-ipconfig':
    /^(?:(?:gw|gw6)=[0-9a-fA-F.:]+|ip=(?:dhcp|[0-9.]+\/\d+)|ip6=(?:auto|dhcp|[0-9a-fA-F:]+\/\d+))(?:,(?:(?:gw|gw6)=[0-9a-fA-F.:]+|ip=(?:dhcp|[0-9.]+\/\d+)|ip6=(?:auto|dhcp|[0-9a-fA-F:]+\/\d+)))*$/,
  'pve-storage-id': /^[A-Za-z][\w.-]*[A-Za-z0-9]$/,
  'pve-tag-list': new RegExp(`^(?:${tag}(?:[,; ]+${tag})*)?$`),
  'pve-vmid': /^[1-9][0-9]{2,8}$/,
  urlencoded: /^[-%a-zA-Z0-9_.!~*'()]*$/,
}

/** Checks a property string such as `virtio=BC:24:11:00:00:01,bridge=vmbr0`. */
function propertyStringError(format: Exclude<Property['format'], string | undefined>, text: string): string | null {
  const defaultKey = Object.keys(format).find(name => format[name]!.default_key)
  const seen = new Set<string>()
  for (const part of text.split(',')) {
    const equals = part.indexOf('=')
    const given = equals < 0 ? defaultKey : part.slice(0, equals)
    if (given === undefined) return `invalid format - value without key, but schema does not define a default key`
    let property = format[given]
    if (property?.keyAlias !== undefined) seen.add(property.keyAlias)
    if (property?.alias !== undefined) property = format[property.alias]
    if (!property)
      return `invalid format - format error\n${given}: property is not defined in schema and the schema does not allow additional properties`
    seen.add(given)
    const error = valueError(property, part.slice(equals + 1))
    if (error) return `invalid format - format error\n${given}: ${error}`
  }
  const missing = Object.entries(format).find(([name, one]) => !one.optional && one.alias === undefined && !seen.has(name))
  return missing ? `invalid format - format error\n${missing[0]}: property is missing and it is not optional` : null
}

/**
 * Checks the privileges of a call.
 * @returns what is missing, as Proxmox tells it, such as `/vms/100, VM.PowerMgmt`; null if nothing is
 */
export function missingPrivilege(
  permissions: Permissions,
  values: Record<string, string>,
  has: (path: string, privilege: string) => boolean,
): string | null {
  if (typeof permissions === 'string') return null
  const [kind, ...parts] = permissions as [string, ...any[]]
  const each = () => parts.map(one => missingPrivilege(one, values, has))
  if (kind === 'and') return each().find(one => one !== null) ?? null
  if (kind === 'or') return each().includes(null) ? null : each()[0]!
  const [template, privileges, ...options] = parts as [string, string[], ...unknown[]]
  const needed = options[options.indexOf('require_param') + 1]
  if (options.includes('require_param') && values[String(needed)] === undefined) return `${template}, ${privileges.join('|')}`
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  const lacking = privileges.filter(one => !has(path, one))
  if (options.includes('any')) return lacking.length < privileges.length ? null : `${path}, ${privileges.join('|')}`
  return lacking.length > 0 ? `${path}, ${lacking[0]}` : null
}

/** Compares a response with the schema; returns the first difference, or null. */
export function responseOffence({ returns }: Call, data: unknown, at = 'data'): string | null {
  if (!returns || (returns.optional && (data === null || data === undefined))) return null
  const { type } = returns
  if (type === 'array') {
    if (!Array.isArray(data)) return `${at} is not a list`
    return (
      data.map((one, place) => responseOffence({ ...noCall, returns: returns.items! }, one, `${at}/${place}`)).find(Boolean) ??
      null
    )
  }
  if (type === 'object') {
    if (typeof data !== 'object' || data === null) return `${at} is not an object`
    for (const [name, inner] of Object.entries(returns.properties ?? {})) {
      const value = (data as Record<string, unknown>)[name]
      if (value === undefined) {
        if (!inner.optional) return `${at}/${name} is missing`
        continue
      }
      const offence = responseOffence({ ...noCall, returns: inner }, value, `${at}/${name}`)
      if (offence) return offence
    }
    return null
  }
  if (type === 'null') return data === null ? null : `${at} is not null`
  if (type === 'string' && typeof data !== 'string') return `${at} is not a string`
  if ((type === 'integer' || type === 'number') && typeof data !== 'number') return `${at} is not a number`
  const error = valueError(returns, type === 'boolean' && typeof data === 'boolean' ? String(Number(data)) : String(data))
  return error ? `${at}: ${error}` : null
}

const noCall = { permissions: 'all', parameters: {} }
