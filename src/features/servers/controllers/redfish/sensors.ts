import { isObject } from '../../../../dns/octets'
import { CloudError, type SensorReading } from '../controller'
import type { RedfishClient, Resource } from './client'
import { membersOf, pathOf } from './system'

type Metric = SensorReading['metric']
type Found = Omit<SensorReading, 'name'> & { name: unknown }

/** Fans, power supplies, and sensors are read one by one. */
const maxRequests = 60

/**
 * Reads the sensors of the chassis of a system. Services since 2020 have ThermalSubsystem, PowerSubsystem, and Sensors; older ones Thermal
 * and Power. Many have both.
 */
export async function sensorsOf(client: RedfishClient, system: Resource): Promise<SensorReading[]> {
  const links = isObject(system.Links) && Array.isArray(system.Links.Chassis) ? system.Links.Chassis : []
  const reader = new Reader(client)
  const found: Found[] = []
  for (const link of links) {
    const chassis = await reader.read(link)
    const thermal = await thermalOf(reader, chassis)
    const power = await powerOf(reader, chassis)
    const some = [...thermal, ...power]
    found.push(...some, ...(some.length === 0 ? await listedSensors(reader, chassis) : []))
  }
  return named(found)
}

async function thermalOf(reader: Reader, chassis: Resource): Promise<Found[]> {
  const { Temperatures, Fans } = await reader.read(chassis.Thermal)
  const old = [
    ...rows(Temperatures).flatMap(one => reading('temperature.celsius', one.Name, one.ReadingCelsius)),
    ...rows(Fans)
      .filter(one => one.ReadingUnits === 'RPM')
      .flatMap(one => reading('fan.rpm', one.Name ?? one.FanName, one.Reading)),
  ]
  if (old.length > 0) return old
  const subsystem = await reader.read(chassis.ThermalSubsystem)
  const { TemperatureReadingsCelsius } = await reader.read(subsystem.ThermalMetrics)
  const fans = await reader.members(subsystem.Fans)
  return [
    ...rows(TemperatureReadingsCelsius).flatMap(one => reading('temperature.celsius', one.DeviceName, one.Reading)),
    ...fans.flatMap(({ Name, SpeedPercent }) => (isObject(SpeedPercent) ? reading('fan.rpm', Name, SpeedPercent.SpeedRPM) : [])),
  ]
}

async function powerOf(reader: Reader, chassis: Resource): Promise<Found[]> {
  const { PowerControl } = await reader.read(chassis.Power)
  const old = rows(PowerControl).flatMap(one => reading('power.watts', one.Name, one.PowerConsumedWatts))
  if (old.length > 0) return old
  const { PowerWatts } = await reader.read(chassis.EnvironmentMetrics)
  const total = isObject(PowerWatts) ? reading('power.watts', chassis.Name, PowerWatts.Reading) : []
  if (total.length > 0) return total
  const found: Found[] = []
  for (const { Name, Metrics } of await reader.members((await reader.read(chassis.PowerSubsystem)).PowerSupplies)) {
    const { InputPowerWatts } = await reader.read(Metrics)
    if (isObject(InputPowerWatts)) found.push(...reading('power.watts', Name, InputPowerWatts.Reading))
  }
  return found
}

/** Metrics of the sensors in the list of a chassis, by type and unit. */
const listedMetrics: Record<string, Metric> = {
  'Temperature Cel': 'temperature.celsius',
  'Rotational RPM': 'fan.rpm',
  'Rotational {rev}/min': 'fan.rpm',
  'Power W': 'power.watts',
}

async function listedSensors(reader: Reader, chassis: Resource): Promise<Found[]> {
  return (await reader.members(chassis.Sensors)).flatMap(({ ReadingType, ReadingUnits, Name, Reading }) => {
    const metric = listedMetrics[`${String(ReadingType)} ${String(ReadingUnits)}`]
    return metric ? reading(metric, Name, Reading) : []
  })
}

/** Reads what resources refer to. What a service lacks is empty. */
class Reader {
  #left = maxRequests

  constructor(private readonly client: RedfishClient) {}

  async read(reference: unknown): Promise<Resource> {
    const path = pathOf(reference)
    if (path === null || this.#left-- <= 0) return {}
    try {
      return await this.client.get(path)
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'not_found') return {}
      throw error
    }
  }

  async members(collection: unknown): Promise<Resource[]> {
    const found: Resource[] = []
    for (const path of membersOf(await this.read(collection))) found.push(await this.read({ '@odata.id': path }))
    return found
  }
}

/** Sensors that are absent or disabled have no number. */
const reading = (metric: Metric, name: unknown, value: unknown): Found[] =>
  typeof value === 'number' && Number.isFinite(value) ? [{ metric, name, value }] : []

const rows = (value: unknown): Resource[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Names sensors uniquely for each metric: services repeat names. */
function named(found: readonly Found[]): SensorReading[] {
  const used = new Set<string>()
  return found.map(({ metric, name, value }) => {
    const text = typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, maxNameLength) : 'Sensor'
    let unique = text
    for (let number = 2; used.has(`${metric} ${unique}`); number++) unique = `${text} ${number}`
    used.add(`${metric} ${unique}`)
    return { metric, name: unique, value }
  })
}

const maxNameLength = 100
