/** Name of the counter that grows with each change of a maintenance window: by it a hub sees that another one made some. */
export const calendarCounter = 'maintenance'
