/** How the last run of a scheduled task has ended is known for longer than its job is kept. `last_words`: JSON. */
export const scheduleEnds = `
ALTER TABLE schedules ADD COLUMN last_state TEXT;
ALTER TABLE schedules ADD COLUMN last_ended_at INTEGER;
ALTER TABLE schedules ADD COLUMN last_words TEXT;
`
