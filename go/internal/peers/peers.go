// Package peers compares this module with others.
package peers
