import type { DeviceFigures } from './figures'
import type { Root } from './root'

/** Temperatures and fans in `/sys/class/hwmon`: https://docs.kernel.org/hwmon/sysfs-interface.html. */
export function sensors(root: Root): DeviceFigures {
  const found: DeviceFigures = new Map()
  const chips = root.names('sys/class/hwmon').map(folder => `sys/class/hwmon/${folder}`)
  const names = chips.map(chip => root.line(`${chip}/name`) ?? 'sensor')
  for (const [at, chip] of chips.entries()) {
    // Of several chips with the same name, such as two NVMe disks, each is named after its device.
    const isOnly = names.filter(name => name === names[at]).length === 1
    const name = isOnly ? names[at]! : (chipDevice(root, chip) ?? names[at]!)
    for (const file of root.names(chip).sort()) {
      const [, input, kind] = /^((temp|fan)\d+)_input$/.exec(file) ?? []
      const value = input === undefined ? null : root.number(`${chip}/${file}`)
      if (value === null) continue
      const device = `${name} ${root.line(`${chip}/${input}_label`) ?? input}`
      if (kind === 'fan') found.set(device, { 'fan.rpm': value })
      else if (isPlausible(value / 1000)) found.set(device, { 'temperature.celsius': value / 1000 })
    }
  }
  return found
}

/** The disk or other device that a chip belongs to, such as `nvme0` or `sda`. */
const chipDevice = (root: Root, chip: string): string | null =>
  root.names(`${chip}/device/block`)[0] ?? root.link(`${chip}/device`)?.split('/').at(-1) ?? null

/** Inputs without a sensor have extreme values. */
const isPlausible = (celsius: number): boolean => celsius > -60 && celsius < 150

/** Charge of batteries in `/sys/class/power_supply`, without those of mice and other devices. */
export function batteries(root: Root): DeviceFigures {
  const found: DeviceFigures = new Map()
  for (const name of root.names('sys/class/power_supply').sort()) {
    const folder = `sys/class/power_supply/${name}`
    if (root.line(`${folder}/type`) !== 'Battery' || root.line(`${folder}/scope`) === 'Device') continue
    const percent = root.number(`${folder}/capacity`)
    if (percent !== null) found.set(name, { 'battery.percent': percent })
  }
  return found
}
