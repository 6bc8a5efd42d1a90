/** Calls external plugins with a time limit, so that a failure names the plugin and affects nothing else. */
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { abortable } from '../base/abortable.ts'
import type { Clock } from '../base/clock.ts'
import { type AppError, errors, isAppError, saidBy } from '../base/error.ts'
import { withinTime } from '../base/limit.ts'
import { maskCredentials } from '../base/mask.ts'
import { say } from '../base/say.ts'
import { asPlugin } from '../error-origin.ts'
import { type EventBus, type EventName, HEARD_IN_PLACE, type Listener } from '../events.ts'
import type { Preferences } from '../ledger/preferences.ts'
import { noteRead, UNKNOWN } from '../sources.ts'
import { defineTask, type HookRule, type Plugin, type PluginRecord, type Task, type WholeApp } from './define.ts'

const LISTEN_WITHIN_MS = 10 * 60_000
const HEAR_IN_PLACE_WITHIN_MS = 10_000
const ANSWER_WITHIN_MS = 30_000
const LONGEST_MESSAGE = 300
/** A plugin is stopped after this many uncaught errors within this time. */
const MOST_UNCAUGHT = 3
const UNCAUGHT_WITHIN_MS = 10 * 60_000
const TRIES = { times: 2, delaySeconds: 30, factor: 10, always: true } as const

type Failures = ReturnType<typeof openFailures>

/** Records the last failure of each plugin since the start, and which of them are stopped. */
export function openFailures(clock: Clock) {
  const last = new Map<string, NonNullable<PluginRecord['lastFailure']>>()
  const uncaught = new Map<string, number[]>()
  /** Stopped plugin → callbacks of those who wait until it is started again. */
  const stopped = new Map<string, Set<() => void>>()
  const switchedOff = new Set<string>()
  return {
    note(plugin: string, thrown: unknown): void {
      last.set(plugin, {
        atMs: clock.now(),
        message: maskCredentials(saidBy(thrown)).slice(0, LONGEST_MESSAGE) || 'No error message',
      })
    },

    /** Counts an uncaught error. @returns whether this error stops the plugin */
    stopsAfter(plugin: string): boolean {
      const now = clock.steady()
      const times = [...(uncaught.get(plugin) ?? []), now].filter((at) => now - at < UNCAUGHT_WITHIN_MS)
      uncaught.set(plugin, times.slice(-MOST_UNCAUGHT))
      if (times.length < MOST_UNCAUGHT || stopped.has(plugin)) return false
      stopped.set(plugin, new Set())
      return true
    },

    /** The last failure of the plugin; undefined: it has not failed since the start. */
    of: (plugin: string): PluginRecord['lastFailure'] => last.get(plugin),

    /** The error that callers of a stopped plugin get; undefined: the plugin is not stopped. */
    refusal(name: string): AppError | undefined {
      if (switchedOff.has(name)) return errors.unavailable(say`The plugin ${{ name }} is switched off`)
      if (!stopped.has(name)) return undefined
      return errors.unavailable(
        say`The plugin ${{ name }} was stopped after repeated errors. An admin can start it again under Settings → Plugins`,
      )
    },

    /** Resolves once the plugin is not stopped. @throws the signal's reason */
    async whenStarted(plugin: string, signal: AbortSignal): Promise<void> {
      const waiting = stopped.get(plugin)
      if (waiting)
        await abortable<void>(signal, (resolve) => {
          waiting.add(resolve)
          return () => waiting.delete(resolve)
        })
    },

    /** @returns false: it was not stopped */
    startAgain(plugin: string): boolean {
      const waiting = stopped.get(plugin)
      if (!waiting) return false
      stopped.delete(plugin)
      switchedOff.delete(plugin)
      uncaught.delete(plugin)
      for (const resolve of waiting) resolve()
      return true
    },

    /** Stops a plugin that an admin has switched off, until `startAgain`; the next start leaves it out. */
    switchOff(plugin: string): void {
      switchedOff.add(plugin)
      if (!stopped.has(plugin)) stopped.set(plugin, new Set())
    },
  }
}

const nameOfTask = (plugin: string): string => `${plugin}.hear`
const Heard = Type.Object({ event: Type.String(), told: Type.Optional(Type.Unknown()) })

/** Each event is a job's row, on disk before the emitter goes on: they run in order, equal waiting ones merged. */
export function openHearing({ name }: Plugin) {
  const listeners = new Map<string, (event: never) => unknown>()
  let failures: Failures | undefined
  const task: Task = defineTask({
    name: nameOfTask(name),
    title: `Tell the plugin ${name}`,
    payload: Heard,
    lane: nameOfTask(name),
    internal: true,
    unique: ({ event, told }) =>
      createHash('sha256')
        .update(JSON.stringify([event, told]))
        .digest('base64'),
    retries: TRIES,
    run: async ({ payload: { event, told }, signal }, app) => {
      await failures?.whenStarted(name, signal)
      const listener = listeners.get(event)
      // An earlier version of the plugin listened to this event, the current one does not.
      if (!listener) return null
      try {
        await withinTime(
          app.clock,
          LISTEN_WITHIN_MS,
          // The type of the event follows from its name, which is known only at run time.
          Promise.resolve(asPlugin(name, () => listener(told as never))),
          () => new Error(`it takes longer than ${LISTEN_WITHIN_MS / 60_000} minutes`),
        )
        return null
      } catch (error) {
        failures?.note(name, error)
        throw error instanceof Error ? error : new Error(String(error))
      }
    },
  })
  return {
    task,
    listen(plugin: Plugin, app: WholeApp, bus: EventBus, given: Failures): void {
      failures = given
      for (const [event, listener] of listenersOf(plugin, app)) {
        listeners.set(event, listener)
        if (HEARD_IN_PLACE.has(event)) bus.listen(event, inPlace(plugin, event, listener, app, given))
        else
          bus.listen(event, async (told) => {
            await app.jobs.start(task.name, { event, told }, { isPatient: true })
          })
      }
    },
  }
}

/** The listeners of a plugin by the event that each listens to. */
export const listenersOf = ({ on = {} }: Plugin, app: WholeApp): Array<[EventName, Listener<EventName>]> =>
  (Object.entries(on) as Array<[EventName, (app: WholeApp) => Listener<EventName>]>).map(([event, toListener]) => [
    event,
    toListener(app),
  ])

/** Without a row. Such events come many times a second, so a listener that was too slow once gets no more. */
function inPlace(
  { name }: Plugin,
  event: string,
  listener: Listener<EventName>,
  app: WholeApp,
  failures: Failures,
): Listener<EventName> {
  let isTooSlow = false
  return async (told) => {
    if (isTooSlow || failures.refusal(name)) return
    const late = () => {
      isTooSlow = true
      return new Error(`it takes longer than ${HEAR_IN_PLACE_WITHIN_MS / 1000} s`)
    }
    try {
      await withinTime(app.clock, HEAR_IN_PLACE_WITHIN_MS, Promise.resolve(asPlugin(name, () => listener(told))), late)
    } catch (error) {
      failures.note(name, error)
      app.log.error(
        { err: error, event },
        isTooSlow ? 'a listener is too slow and gets no more events until the next start' : 'a listener failed',
      )
    }
  }
}

/** Applies the hook's rule to failures. The sources of answers are unknown: replies with them are not cached. */
export function guardedImplementation(
  implementation: unknown,
  hook: string,
  rule: HookRule | undefined,
  plugin: Plugin,
  app: WholeApp,
  failures: Failures,
): unknown {
  const limitMs = rule?.withinSeconds === undefined ? ANSWER_WITHIN_MS : rule.withinSeconds * 1000
  const late = () => new Error(`no answer to ${hook} within ${limitMs / 1000} s`)
  const without = (error: unknown, args: unknown[]): unknown => {
    // An AppError is a regular result, such as a refused parameter, unless the rule has a substitute.
    const isStopped = failures.refusal(plugin.name) !== undefined
    const isAnswer = isAppError(error)
    const refusal = isAnswer
      ? error
      : errors.unavailable(
          say`The plugin ${{ name: plugin.name }} could not answer because of an error; the log says why. Fix the plugin, or switch it off`,
          { cause: error },
        )
    let isMissed = !isAnswer
    try {
      if (!rule?.otherwise) throw refusal
      const instead = rule.otherwise(args as never[], refusal, implementation as never)
      isMissed = true
      return instead
    } finally {
      if (isMissed && !isStopped) {
        failures.note(plugin.name, error)
        app.log.error({ err: error, hook }, 'a plugin failed to answer')
      }
    }
  }
  const wanted = kindOfSubstitute(rule, implementation)
  /** An answer of another kind, such as none instead of a map, would fail the caller without naming the plugin. */
  const fitting = (answer: unknown): unknown => {
    if (wanted === undefined || kindOf(answer) === wanted) return answer
    throw new Error(`the answer to ${hook} is ${kindOf(answer)}, but must be ${wanted}`)
  }
  const guarded =
    (call: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      noteRead(UNKNOWN)
      try {
        const refusal = failures.refusal(plugin.name)
        if (refusal) throw refusal
        const answer = asPlugin(plugin.name, () => call(...args))
        if (!isPromiseLike(answer)) return fitting(answer)
        if (rule?.isSync) {
          Promise.resolve(answer).catch(() => undefined) // it comes too late, also as an error
          throw new Error(`${hook} must answer at once: its implementation must not be async`)
        }
        return withinTime(app.clock, limitMs, answer, late)
          .then(fitting)
          .catch((error: unknown) => without(error, args))
      } catch (error) {
        return without(error, args)
      }
    }
  if (typeof implementation === 'function') return guarded(implementation as (...args: unknown[]) => unknown)
  if (typeof implementation !== 'object' || implementation === null) return implementation
  return new Proxy(implementation, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key)
      return typeof part === 'function' ? guarded((...args) => Reflect.apply(part, target, args) as unknown) : part
    },
  })
}

/** With the limits of hooks. Judges of a stopped plugin are skipped, so that its preferences can be corrected. */
export function guardedPreferences(
  preferences: Preferences,
  plugin: Plugin,
  app: WholeApp,
  failures: Failures,
): Preferences {
  const guard = <Call>(call: Call, what: string, rule?: HookRule) =>
    guardedImplementation(call, what, rule, plugin, app, failures) as Call
  return {
    ...preferences,
    judge(section, judge) {
      const guarded = guard(judge, 'preferences.judge')
      preferences.judge(section, async (changed) => (failures.refusal(plugin.name) ? {} : guarded(changed)))
    },
    watch: (listener) => preferences.watch(guard(listener, 'preferences.watch', { otherwise: () => undefined })),
  }
}

/** `Map`, `Array`, `Undefined` and so on, also of subclasses. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

/** undefined: there is no substitute, or it can be of any kind. */
function kindOfSubstitute(rule: HookRule | undefined, implementation: unknown): string | undefined {
  try {
    const substitute = rule?.otherwise?.([], errors.unavailable(''), implementation as never)
    return substitute === undefined ? undefined : kindOf(substitute)
  } catch {
    return undefined // it needs the arguments of a call
  }
}

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
