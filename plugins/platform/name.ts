/** The platform's name for people, defined only here. */
export const PLATFORM = 'YouTube'
