/** The text to type before files are deleted: the name, or the id if the name cannot be typed. */

const TYPEABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,80}$/u

/** Names may contain invisible characters, and white space that browsers collapse. */
export function typedFor(name: string, id: string): string {
  const own = name.trim()
  return TYPEABLE.test(own) && !own.includes('  ') ? own : id
}
