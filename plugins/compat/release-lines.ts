/** Determines the form of replies that a client wants, where the two release lines of TubeArchivist differ. */
import { type App, type FaultForm, type Route, type RouteInput, Type } from 'archivolt'
import { rewritten } from './reply-text.ts'

const FORMS = ['v0.4', 'v0.5'] as const
type ApiForm = (typeof FORMS)[number]

export const formSetting = {
  env: 'AV_COMPAT',
  schema: Type.Enum([...FORMS], { description: FORMS.join(' or ') }),
  default: 'v0.4',
  meaning: 'form of replies where the two release lines of TubeArchivist differ: `v0.4` or `v0.5`',
}

const FORM_HEADER = 'X-API-Form'
type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Any other value of the header is ignored. */
function asked(headers: Headers): ApiForm | undefined {
  const value = headers['x-api-form']
  return FORMS.find((form) => form === value)
}

const formOf = (headers: Headers, { settings }: Pick<App, 'settings'>): ApiForm => asked(headers) ?? settings.compat

type Request = Pick<RouteInput<never, never, never>, 'request'>

/**
 * Repeats the record's keys next to `data` and `config`, unless the client has requested the line that does not need
 * this.
 */
export const merged = (): Partial<Route> => ({
  vary: [FORM_HEADER],
  itemForm: ({ request }: Request) => (asked(request.headers) === 'v0.4' ? 'enveloped' : 'merged'),
})

/** Replies with a plain array, as v0.5 does for some lists; an array cannot also have the keys of an object. */
export const bare = (): Partial<Route> => ({
  vary: [FORM_HEADER],
  itemForm: ({ request }: Request, app: App) => (formOf(request.headers, app) === 'v0.5' ? 'bare' : 'enveloped'),
})

/** Ends a list with an empty page, as v0.5 does; in the older line this is an error. */
export const endingEmpty = (): Partial<Route> => ({
  vary: [FORM_HEADER],
  pageForm: ({ request }: Request, app: App) => (formOf(request.headers, app) === 'v0.5' ? 'lenient' : 'strict'),
})

/** Dates in records, which v0.5 sends as date-times; a queued video may not have one yet. */
const DAYS = /"(published|vid_last_refresh|channel_last_refresh|playlist_last_refresh)":"(\d{4}-\d{2}-\d{2})?"/g

const withDateTimes = (text: string): string =>
  text.replace(DAYS, (_, key: string, day?: string) => `"${key}":${day ? `"${day}T00:00:00+00:00"` : 'null'}`)

/** Sends a date as the time at which the day begins, as v0.5 does. */
export const dated = ({ handle }: Route): Partial<Route> => ({
  vary: [FORM_HEADER],
  variant: ({ request }: Request, app: App) => formOf(request.headers, app),
  handle(input, app) {
    const reply = handle(input, app)
    if (formOf(input.request.headers, app) !== 'v0.5') return reply
    return Promise.resolve(reply).then((made) => rewritten(made, withDateTimes))
  },
})

/** Answers a deletion without a body, as v0.5 does. */
export const silentInV05 = ({ handle }: Route): Partial<Route> => ({
  vary: [FORM_HEADER],
  async handle(input, app) {
    const reply = await handle(input, app)
    return formOf(input.request.headers, app) === 'v0.5' ? undefined : reply
  },
})

/** Answers 403 to clients that are not signed in, as v0.5 does; its page polls until it gets exactly this status. */
export const refusals =
  (app: Pick<App, 'settings'>): FaultForm =>
  (fault, headers) => {
    if (fault.status !== 401 || formOf(headers, app) !== 'v0.5') return fault
    const { 'WWW-Authenticate': _challenge, ...others } = fault.headers
    return { ...fault, status: 403, headers: others }
  }

declare module 'archivolt' {
  interface Settings {
    compat: 'v0.4' | 'v0.5'
  }
}
