/** Converts fields of other programs' rows, whatever their content, to typed values. */

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const flagOf = (value: unknown): boolean => value === 1 || value === true || value === 1n || value === '1'
export const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})/

/** Epoch seconds of a time that is stored as text in UTC without a time zone. */
export function secondsOf(value: unknown): number | undefined {
  const [, day, time] = TIME.exec(textOf(value)) ?? []
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time}Z`)
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}

/** `20230718`, from a text that starts with a date. */
export function dayOf(value: unknown): string | undefined {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(textOf(value)) ?? []
  return year === undefined ? undefined : `${year}${month}${day}`
}

export const objectOf = (value: unknown): Record<string, unknown> =>
  value && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
export const objectsOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one) => one && typeof one === 'object' && !Array.isArray(one)) : []
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

const IN_ADDRESS = /(?:[?&]v=|youtu\.be\/|\/(?:shorts|live|embed)\/)([A-Za-z0-9_-]{11})(?![A-Za-z0-9_-])/
/** The video id in a URL. */
export const idInAddress = (value: unknown): string | undefined => IN_ADDRESS.exec(textOf(value))?.[1]
/** The channel id in a URL. */
export const channelIn = (text: string): string | undefined =>
  /\/channel\/(UC[A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])/.exec(text)?.[1]
const handleIn = (text: string): string | undefined => /\.com\/(@[^/?#\s]{1,100})/.exec(text)?.[1]
/** The channel id in a URL, otherwise the handle. */
export const channelOrHandleIn = (value: unknown): string | undefined =>
  channelIn(textOf(value)) ?? handleIn(textOf(value))
export const playlistInAddress = (value: unknown): string | undefined =>
  /[?&]list=([A-Za-z0-9_-]{1,128})/.exec(textOf(value))?.[1]

/** Drops fields without a value. */
export const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
