/** Clean-ups in reverse: node:test runs them in the order they came, which would take a folder away from under its server. */

export interface Scope {
  after(cleanUp: () => Promise<void> | void): void
}

export function lastFirst(t: Scope): Scope {
  const cleanUps: Array<() => Promise<void> | void> = []
  t.after(async () => {
    for (let cleanUp = cleanUps.pop(); cleanUp; cleanUp = cleanUps.pop()) await cleanUp()
  })
  return { after: (cleanUp) => void cleanUps.push(cleanUp) }
}
