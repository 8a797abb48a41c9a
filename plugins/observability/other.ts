/** In metrics and spans, in place of a name that no registry has, or that is one too many. */
export const OTHER = '_OTHER'
