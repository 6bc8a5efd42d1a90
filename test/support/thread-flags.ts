/** Flags of this process that a thread may be given too: those of V8 are of the whole process. */
export const threadFlags = (): string[] => process.execArgv.filter((flag) => !flag.startsWith('--interrupt-budget'))
