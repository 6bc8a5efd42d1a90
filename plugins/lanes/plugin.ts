/** Turns: several jobs of a lane may run, but only one item, or a few, is processed at a time. */
import { definePlugin, type Lanes, lanesOfTurns, openLanes } from 'archivolt'

export default definePlugin({
  name: 'lanes',
  services: ({ clock, registry }) => ({ lanes: openLanes({ clock, lanes: lanesOfTurns(registry.plugins) }) }),
})

declare module 'archivolt' {
  interface App {
    /** Waits for a turn in a lane that processes one item at a time. */
    readonly lanes: Lanes
  }
}
