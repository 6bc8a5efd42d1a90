/** A map whose values are made when they are first needed. */

interface Made<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

export function madeOnce<Key, Value extends object>(map: Made<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  let value = map.get(key)
  if (!value) map.set(key, (value = make(key)))
  return value
}
