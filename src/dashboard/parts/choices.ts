type Pairs = readonly (readonly [value: string, label: string])[]

/** Values that can be chosen, with their labels. Pairs keep the order of numbers. Words are their own labels. */
export type Choices = Readonly<Record<string, string>> | Pairs | readonly string[]

export const pairsOf = (choices: Choices): Pairs =>
  isList(choices) ? choices.map(one => (typeof one === 'string' ? [one, one] : one)) : Object.entries(choices)

/** Returns the list with or without a value. */
export const toggled = (list: readonly string[], value: string, isIn: boolean): string[] =>
  isIn ? [...list, value] : list.filter(one => one !== value)

const isList = (choices: Choices): choices is Pairs | readonly string[] => Array.isArray(choices)
